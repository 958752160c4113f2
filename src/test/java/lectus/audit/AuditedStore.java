package lectus.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import lectus.audit.AuditReport.Finding;
import lectus.audit.StoreAudit.AuditListener;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionRunner;

/** A store that is damaged on purpose and then audited. */
record AuditedStore(Store store, TransactionRunner transactions) {
  static final Duration PAGE_BY_PAGE = Duration.ZERO;

  void corrupt(Consumer<Transaction> change) {
    transactions.run(
        tx -> {
          Awaiting.await(tx.getReadVersion());
          change.accept(tx);
          return null;
        });
  }

  /** Audits at one version and page by page, and checks that both find the same. */
  List<Finding> findings() {
    List<Finding> atOnce = new StoreAudit(store, AuditListener.SILENT).run().findings();
    List<Finding> paged =
        new StoreAudit(store, AuditListener.SILENT, PAGE_BY_PAGE).run().findings();
    assertThat(texts(paged)).containsExactlyInAnyOrderElementsOf(texts(atOnce));
    return atOnce;
  }

  List<String> problems() {
    return texts(findings());
  }

  private static List<String> texts(List<Finding> findings) {
    return findings.stream().map(Finding::toString).toList();
  }

  void assertFound(String place, String... parts) {
    assertThat(problems()).anySatisfy(it -> assertThat(it).contains(place + ": ").contains(parts));
  }
}
