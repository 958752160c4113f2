package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.Function;

/** Where an audit reads. */
interface Reading {
  /** What the body reads it reads at one version. */
  <T> T read(Function<? super ReadTransaction, ? extends T> body);

  /** Whether two reads see the same state, so that what differs between them is wrong. */
  boolean isOneVersion();
}
