package lectus.changes.filter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import lectus.http.limits.MemoryAccount;
import lectus.script.Call;
import lectus.script.Call.Program;
import lectus.script.Outcome;
import lectus.script.Scripts;
import lectus.script.Scripts.Pool;

/**
 * {@code filter=design/name} and {@code filter=_view}: a function of a design document, as it was
 * when the feed began. It is asked outside of transactions, about documents that were read in one.
 *
 * <p>Filters are equal if one can be asked for the other: they have the same function, and requests
 * that differ at most in what a function is seen to look at ({@link #isPersonal}).
 */
public final class FunctionFilter implements FeedFilter {
  /** A feed waits for so long until its function can be run: others may ask too much. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Scripts scripts;
  private final MemoryAccount memory;
  private final String account;
  private final Program program;
  private final Call function;
  private final String shared;
  private volatile boolean isPersonal;

  /** Since when the function could not be run; 0: it could be the last time. */
  private volatile long refusedSince;

  /**
   * @param memory counts documents as long as the function is asked about them
   * @param account of the database
   * @param function the call without the document, which becomes its first argument
   * @param shared what the function may depend on and others may have alike: a part of the request,
   *     the user, the security object
   */
  public FunctionFilter(
      Scripts scripts,
      MemoryAccount memory,
      String account,
      Program program,
      Call function,
      String shared) {
    this.scripts = scripts;
    this.memory = memory;
    this.account = account;
    this.program = program;
    this.function = function;
    this.shared = shared;
  }

  /**
   * Asks the function about documents, in their order.
   *
   * @param documents JSON as UTF-8
   */
  public List<CompletableFuture<Outcome>> ask(List<byte[]> documents) {
    List<Call> calls = documents.stream().map(this::about).toList();
    return scripts.run(Pool.INTERACTIVE, account, program, calls);
  }

  private Call about(byte[] document) {
    List<byte[]> arguments = new ArrayList<>();
    arguments.add(document);
    arguments.addAll(function.arguments());
    return new Call(function.kind(), function.path(), arguments);
  }

  /** Returns the account in which documents count while the function is asked about them. */
  public MemoryAccount memory() {
    return memory;
  }

  /** Notes that the function could be run. */
  public void answers() {
    refusedSince = 0;
  }

  /** Whether a function that could not be run is worth another attempt. */
  public boolean mayAskAgain() {
    long now = System.nanoTime();
    refusedSince = refusedSince == 0 ? now : refusedSince;
    return now - refusedSince < PATIENCE.toNanos();
  }

  /** Notes that the function has looked at what only this request has. */
  public void becomesPersonal() {
    isPersonal = true;
  }

  /** Whether the function may not be asked for others, nor for this request by others. */
  public boolean isPersonal() {
    return isPersonal;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FunctionFilter it
        && shared.equals(it.shared)
        && program.key().equals(it.program.key())
        && function.kind() == it.function.kind()
        && function.path().equals(it.function.path());
  }

  @Override
  public int hashCode() {
    return Objects.hash(shared, program.key(), function.kind(), function.path());
  }
}
