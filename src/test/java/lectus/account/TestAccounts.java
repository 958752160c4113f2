package lectus.account;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import lectus.account.LoggingIn.LogIn;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.testing.TestLayout;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentCache;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.document.write.Judge;
import lectus.document.write.WriteRules;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** One server's accounts, with a clock of their own, and short methods for what tests do. */
final class TestAccounts implements AutoCloseable {
  static final int ITERATIONS = 10;
  static final int MAX_IMPORTED_ITERATIONS = 1_000;
  static final String ADDRESS = "127.0.0.1";
  static final DocumentParser PARSER = new DocumentParser(DocumentLimits.DEFAULT);

  final Store store;
  final Catalogue catalogue;
  final DocumentReader documents;
  final DocumentWriter writer;
  final Accounts accounts;
  private final AtomicLong nanos = new AtomicLong();
  private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
  private volatile Callable<?> beforeTime = () -> null;

  TestAccounts(Store store) {
    this(store, SecurityObject.ADMIN_ONLY);
  }

  TestAccounts(Store store, SecurityObject unset) {
    this(store, unset, ITERATIONS);
  }

  TestAccounts(Store store, SecurityObject unset, int iterations) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    AccountSettings settings =
        new AccountSettings(
            iterations,
            MAX_IMPORTED_ITERATIONS,
            unset,
            true,
            false,
            false,
            false,
            AccountSettings.Lockout.ENFORCE);
    this.store = store;
    this.catalogue = new Catalogue(store, transactions, InstantSource.system());
    this.documents = new DocumentReader(catalogue, transactions, new DocumentCache(0));
    this.writer =
        new DocumentWriter(
            store,
            catalogue,
            new WriteRules(
                false,
                new UserDocumentRule(settings, replication -> Optional.empty()),
                Judge.NONE));
    this.accounts =
        new Accounts(store, catalogue, documents, PARSER, writer, () -> settings, this::nanoTime);
  }

  TestAccounts withUsers() {
    catalogue.create(UserDocuments.USERS, TestLayout.OPTIONS);
    return this;
  }

  /** Whoever asks for the time runs this first. */
  void whenAsked(Callable<?> first) {
    beforeTime = first;
  }

  private long nanoTime() {
    try {
      beforeTime.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return nanos.get();
  }

  void later(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /** Writes a user's document as an admin; empty if that is stored. */
  Optional<LectusError> put(String name, String json) {
    return put(UserContext.ADMIN_PARTY, name, json);
  }

  Optional<LectusError> put(UserContext by, String name, String json) {
    return write(edit(by, UserDocuments.idOf(name), json));
  }

  /** Makes an edit over the stored revision, if there is one. */
  Edit edit(UserContext by, String id, String json) {
    JsonBuffer out = new JsonBuffer(64);
    Optional<String> base = Optional.empty();
    try {
      base =
          Optional.of(
                  documents.read(
                      DatabaseRequest.byServer(UserDocuments.USERS),
                      id,
                      DocumentQuery.DEFAULT,
                      out))
              .map(Object::toString);
    } catch (lectus.error.LectusException none) {
      // A new document.
    }
    return PARSER.interactive(id, new NamedRevisions(base, Optional.empty()), utf8(json)).by(by);
  }

  Optional<LectusError> write(Edit edit) {
    Edit hashed =
        accounts.userEdits().needsHashing(edit) ? accounts.userEdits().hash(edit).join() : edit;
    return store(hashed);
  }

  Optional<LectusError> store(Edit edit) {
    EditOutcome outcome = writer.write(UserDocuments.USERS, List.of(edit)).outcomes().get(0);
    return outcome instanceof EditOutcome.Failed failed
        ? Optional.of(failed.error())
        : Optional.empty();
  }

  JsonObject document(String name) {
    JsonBuffer out = new JsonBuffer(64);
    documents.read(
        DatabaseRequest.byServer(UserDocuments.USERS),
        UserDocuments.idOf(name),
        DocumentQuery.DEFAULT,
        out);
    return (JsonObject) JsonValue.parse(out.toBytes());
  }

  LogIn logIn(String name, String password) {
    return accounts.loggingIn().logIn(name, password, ADDRESS);
  }

  /** Waits until all threads have done what nobody waits for. */
  void awaitHashing() {
    CyclicBarrier all = new CyclicBarrier(Hashing.IMPORTS_AT_ONCE);
    for (int i = 0; i < Hashing.IMPORTS_AT_ONCE; i++) {
      last =
          accounts
              .passwords
              .hashing()
              .begin(Hashing.Turn.LAST, "a line of its own", () -> arrived(all));
    }
    last.join();
  }

  private static Void arrived(CyclicBarrier all) {
    try {
      all.await();
      return null;
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  static String user(String name, String password, String... roles) {
    return "{'type':'user','name':'%s','password':'%s','roles':[%s]}"
        .formatted(name, password, roles.length == 0 ? "" : "'" + String.join("','", roles) + "'")
        .replace('\'', '"');
  }

  static byte[] utf8(String json) {
    return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    accounts.close();
  }
}
