package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A transaction that records the reads requested from it and from its snapshots. */
final class CountedReads {
  private static final Set<String> READS =
      Set.of("get", "getKey", "getRange", "getMappedRange", "getEstimatedRangeSizeBytes");

  private final List<String> reads = new ArrayList<>();
  private final ReadTransaction transaction;

  CountedReads(ReadTransaction inner) {
    this.transaction = counted(inner);
  }

  private ReadTransaction counted(ReadTransaction inner) {
    return (ReadTransaction)
        Proxy.newProxyInstance(
            ReadTransaction.class.getClassLoader(),
            new Class<?>[] {ReadTransaction.class},
            (self, method, arguments) -> {
              if (method.getName().equals("snapshot")) {
                return counted(inner.snapshot());
              }
              if (READS.contains(method.getName())) {
                reads.add(method.getName());
              }
              return method.invoke(inner, arguments);
            });
  }

  ReadTransaction transaction() {
    return transaction;
  }

  List<String> reads() {
    return reads;
  }
}
