package lectus.view;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.script.Call;
import lectus.script.Call.Program;
import lectus.script.Kind;
import lectus.script.Outcome;
import lectus.script.Scripts;
import lectus.script.Scripts.Pool;
import lectus.store.Awaiting;
import lectus.view.ViewDefinition.View;

/** The functions of one design document, run in child processes. Each call waits for them. */
final class ViewFunctions {
  /** Shorter results are never too long. In bytes, as CouchDB's default. */
  private static final int MAX_REDUCTION_BYTES = 4_906;

  private static final int SECONDS_BEFORE_RETRY = 5;

  private final Scripts scripts;
  private final Pool pool;
  private final String account;
  private final Program program;

  /**
   * @param account of the database, whose functions take turns with those of others
   * @param name of the database and the design document, for the log
   */
  ViewFunctions(
      Scripts scripts, Pool pool, String account, String name, ViewDefinition definition) {
    this.scripts = scripts;
    this.pool = pool;
    this.account = account;
    this.program = definition.program(account, name);
  }

  /**
   * Maps documents by all views. A failure of a call counts as one of its document; without any
   * function nothing goes on.
   *
   * @param nanos after which no further document is waited for
   * @param mostBytes of what they emit, after which there are no further ones
   * @return how the maps ended, of the first documents, of one at least
   * @throws LectusException none can be run
   */
  List<Outcome> map(List<byte[]> documents, long nanos, long mostBytes) {
    List<Call> calls =
        documents.stream().map(it -> new Call(Kind.MAP, List.of("views"), List.of(it))).toList();
    long begun = System.nanoTime();
    List<CompletableFuture<Outcome>> running = scripts.run(pool, account, program, calls);
    AtomicLong bytes = new AtomicLong();
    for (CompletableFuture<Outcome> each : running) {
      each.thenAccept(
          outcome -> {
            if (outcome instanceof Outcome.Value value
                && bytes.addAndGet(value.json().length) > mostBytes) {
              running.subList(1, running.size()).forEach(it -> it.cancel(false));
            }
          });
    }
    List<Outcome> outcomes = new ArrayList<>(running.size());
    try {
      for (CompletableFuture<Outcome> each : running) {
        if (!outcomes.isEmpty() && System.nanoTime() - begun > nanos) {
          break;
        }
        outcomes.add(ofCall(Awaiting.await(each)));
      }
    } catch (CancellationException enough) {
      return outcomes;
    } finally {
      running.forEach(it -> it.cancel(false));
    }
    return outcomes;
  }

  /**
   * @throws LectusException no function could be run
   */
  private static Outcome ofCall(Outcome outcome) {
    if (outcome instanceof Outcome.Failed failed && !failed.isOfCall()) {
      throw new LectusException(new LectusError.Unavailable(failed.reason(), SECONDS_BEFORE_RETRY));
    }
    return outcome;
  }

  Reducer reducer(View view) {
    return view.reduce()
        .map(source -> BuiltInReduces.named(source).orElseGet(() -> new Scripted(view.name())))
        .orElseGet(Reducer::none);
  }

  /** A reduce function of a client. */
  private final class Scripted extends Reducer {
    private final List<String> path;

    Scripted(String view) {
      this.path = List.of("views", view, "reduce");
    }

    @Override
    boolean waits() {
      return true;
    }

    @Override
    List<byte[]> reduce(List<List<ReducedRow>> all) {
      return results(
          all.stream()
              .map(rows -> new Call(Kind.REDUCE, path, List.of(keys(rows), values(rows))))
              .toList());
    }

    @Override
    List<byte[]> rereduce(List<List<byte[]>> all) {
      return results(
          all.stream()
              .map(them -> them.stream().map(Reducer::rest).toList())
              .map(values -> new Call(Kind.REREDUCE, path, List.of(array(values))))
              .toList());
    }

    /** Of a result that is too long only that is kept. */
    private List<byte[]> results(List<Call> calls) {
      Iterator<Call> each = calls.iterator();
      List<CompletableFuture<byte[]>> running =
          scripts.run(pool, account, program, calls).stream()
              .map(
                  outcome -> {
                    Call call = each.next();
                    return outcome.thenApply(it -> bounded(result(ofCall(it), call)));
                  })
              .toList();
      return running.stream().map(Awaiting::await).toList();
    }

    private static byte[] result(Outcome outcome, Call call) {
      if (outcome instanceof Outcome.Thrown) {
        // As in CouchDB.
        return value("null");
      }
      if (outcome instanceof Outcome.NotCompiled broken) {
        return failed("compilation_error", broken.reason());
      }
      if (outcome instanceof Outcome.Failed failure) {
        return failed("function_failed", failure.reason());
      }
      byte[] json = ((Outcome.Value) outcome).json();
      long input = call.arguments().stream().mapToLong(it -> it.length).sum();
      if (json.length > MAX_REDUCTION_BYTES && 2L * json.length > input) {
        return overflow(sizes(json, input));
      }
      return value(json);
    }

    private static String sizes(byte[] json, long input) {
      return "Reduce output must shrink more rapidly: input size: "
          + input
          + " output size: "
          + json.length;
    }
  }

  private static byte[] keys(List<Reducer.ReducedRow> rows) {
    JsonBuffer out = new JsonBuffer(64 * rows.size());
    char separator = '[';
    for (Reducer.ReducedRow row : rows) {
      out.octet(separator).octet('[').raw(row.emitted().key()).octet(',');
      out.string(ViewRows.parts(row.place()).docId()).octet(']');
      separator = ',';
    }
    return out.octet(']').toBytes();
  }

  private static byte[] values(List<Reducer.ReducedRow> rows) {
    return array(rows.stream().map(row -> row.emitted().value()).toList());
  }

  private static byte[] array(List<byte[]> values) {
    JsonBuffer out = new JsonBuffer(64 * values.size());
    char separator = '[';
    for (byte[] value : values) {
      out.octet(separator).raw(value);
      separator = ',';
    }
    return out.octet(']').toBytes();
  }

  static byte[] utf8(JsonValue value) {
    return value.toJson().getBytes(StandardCharsets.UTF_8);
  }
}
