package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import com.github.benmanes.caffeine.cache.Cache;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.DocumentJson;
import lectus.document.DocumentsSubspace;
import lectus.document.StoredBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.metrics.CacheMetrics;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.revision.EditBranch.Winner;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.script.Call.Program;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * The design documents whose functions are called, as programs. A program is known by the sequence
 * of its document's last change, beside the revision: a revision may be purged and come again with
 * another body. Thread-safe.
 */
public final class DesignPrograms implements Measured {
  /** Memory of an entry besides its key and its JSON, in bytes. */
  private static final int ENTRY_BYTES = 400;

  private static final int IDLE_SECONDS = 10;

  private final TransactionRunner transactions;
  private final CacheMetrics figures = new CacheMetrics("programs");
  private final Cache<String, Program> programs;
  private final Map<String, CompletableFuture<Program>> reading = new ConcurrentHashMap<>();
  private final Executor reader;

  /**
   * @param bytes approximate memory of all programs together
   */
  public DesignPrograms(TransactionRunner transactions, long bytes) {
    this.transactions = transactions;
    this.programs =
        figures
            .cache()
            .maximumWeight(bytes)
            .weigher(
                (String key, Program program) ->
                    ENTRY_BYTES + 2 * key.length() + program.json().length)
            .build();
    this.reader = DaemonThreads.pool(1, IDLE_SECONDS, DaemonThreads.named("lectus-programs"));
  }

  @Override
  public void describe(Meters meters) {
    figures.describe(meters, programs::estimatedSize);
  }

  /**
   * Returns the program of a design document's live winner. Never blocks.
   *
   * @param changedAt the sequence of the document's last change
   * @return fails if the winner is another one by now, or cannot be read
   */
  public CompletableFuture<Program> of(
      DatabaseHandle db, String designId, RevisionId revision, Sequence changedAt) {
    String key = key(db, designId, revision, changedAt);
    Program known = programs.getIfPresent(key);
    return known != null
        ? CompletableFuture.completedFuture(known)
        : reading.computeIfAbsent(key, it -> begin(db, designId, revision, changedAt));
  }

  private static String key(
      DatabaseHandle db, String designId, RevisionId revision, Sequence changedAt) {
    return String.join(
        " ", db.instance().hex(), revision.toString(), changedAt.toString(), designId);
  }

  private CompletableFuture<Program> begin(
      DatabaseHandle db, String designId, RevisionId revision, Sequence changedAt) {
    String key = key(db, designId, revision, changedAt);
    CompletableFuture<Program> begun = new CompletableFuture<>();
    reader.execute(
        () -> {
          try {
            byte[] json = transactions.read(tx -> read(tx, db, designId, revision, changedAt));
            Program program = new Program(key, db.name().text() + "/" + designId, json);
            programs.put(key, program);
            begun.complete(program);
          } catch (Throwable failure) {
            begun.completeExceptionally(failure);
          } finally {
            reading.remove(key);
          }
        });
    return begun;
  }

  private static byte[] read(
      ReadTransaction tx,
      DatabaseHandle db,
      String designId,
      RevisionId revision,
      Sequence changedAt) {
    byte[] prefix = new DocumentsSubspace(db).revision(designId, false, revision);
    CompletableFuture<StoredBody> body = StoredBody.read(tx, prefix);
    CompletableFuture<Optional<Winner>> winner =
        new RevisionsSubspace(db).asWinner(tx, designId, revision);
    if (Awaiting.await(winner).filter(it -> it.sequence().equals(changedAt)).isEmpty()) {
      throw LectusException.notFound("missing");
    }
    JsonBuffer json = new JsonBuffer(1_024);
    DocumentJson.append(json, designId, false, revision, Awaiting.await(body));
    DocumentJson.close(json);
    return json.toBytes();
  }
}
