package lectus.view;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.script.Call;
import lectus.script.Kind;
import lectus.script.Outcome;
import lectus.script.Program;
import lectus.script.Scripts;
import lectus.script.Scripts.Pool;
import lectus.store.Awaiting;
import lectus.view.ViewDefinition.View;
import lectus.view.ViewRows.Refusal;

/** The functions of one design document, run in child processes. Each call waits for them. */
final class ViewFunctions {
  /** Shorter results are never too long. In bytes, as CouchDB's default. */
  private static final int MAX_REDUCTION_BYTES = 4_906;

  private static final int SECONDS_BEFORE_RETRY = 5;

  /** In place of what a map emits that emits more than a child may answer. */
  private static final JsonValue TOO_MUCH =
      new JsonObject(Map.of("error", new JsonString("output")));

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
   * Rows of one document.
   *
   * @param views for each view {@code [[key,value],…]}; nothing where its map threw
   * @param failure why there are none in any view
   */
  record Emits(List<JsonArray> views, Optional<Refusal> failure) {
    static final Emits NOTHING = new Emits(List.of(), Optional.empty());

    static Emits failed(Refusal why) {
      return new Emits(List.of(), Optional.of(why));
    }
  }

  /**
   * Maps documents by all views.
   *
   * @param nanos after which no further document is waited for
   * @return of the first documents, of one at least
   * @throws LectusException a function does not compile, or none can be run
   */
  List<Emits> map(List<byte[]> documents, long nanos) {
    List<Call> calls =
        documents.stream().map(it -> new Call(Kind.MAP, List.of("views"), List.of(it))).toList();
    return run(calls, nanos).stream().map(ViewFunctions::emitted).toList();
  }

  private static Emits emitted(Outcome outcome) {
    if (outcome instanceof Outcome.NotCompiled broken) {
      throw LectusException.badRequest("compilation_error", broken.reason());
    }
    if (outcome instanceof Outcome.Value value) {
      return emitted(value.json());
    }
    String reason = outcome.failure().map(LectusError::reason).orElse("");
    boolean mayPass = outcome instanceof Outcome.Failed failed && failed.mayPass();
    return Emits.failed(mayPass ? Refusal.forNow(reason) : Refusal.of(reason));
  }

  /** What is nested too deeply fails its document, not the view. */
  private static Emits emitted(byte[] json) {
    try {
      JsonArray all = (JsonArray) JsonValue.parse(json);
      return new Emits(
          all.elements().stream()
              .map(one -> one instanceof JsonArray rows ? rows : new JsonArray(List.of()))
              .toList(),
          all.elements().contains(TOO_MUCH)
              ? Optional.of(Refusal.of("A map emits too much."))
              : Optional.empty());
    } catch (LectusException malformed) {
      return Emits.failed(Refusal.of(malformed.error().reason()));
    }
  }

  /** A failure of a call counts as one of its document; without any function nothing goes on. */
  private List<Outcome> run(List<Call> calls, long nanos) {
    long begun = System.nanoTime();
    List<CompletableFuture<Outcome>> running = scripts.run(pool, account, program, calls);
    List<Outcome> outcomes = new ArrayList<>(running.size());
    for (CompletableFuture<Outcome> each : running) {
      if (!outcomes.isEmpty() && System.nanoTime() - begun > nanos) {
        running.forEach(it -> it.cancel(false));
        break;
      }
      Outcome outcome = Awaiting.await(each);
      if (outcome instanceof Outcome.Failed failed && !failed.isOfCall()) {
        running.forEach(it -> it.cancel(false));
        throw new LectusException(
            new LectusError.Unavailable(failed.reason(), SECONDS_BEFORE_RETRY));
      }
      outcomes.add(outcome);
    }
    return outcomes;
  }

  /** Returns what reduces the rows of a view. */
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

    private List<byte[]> results(List<Call> calls) {
      List<Outcome> outcomes = run(calls, Long.MAX_VALUE);
      List<byte[]> results = new ArrayList<>(calls.size());
      for (int i = 0; i < calls.size(); i++) {
        results.add(result(outcomes.get(i), calls.get(i)));
      }
      return results;
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
      out.string(row.docId()).octet(']');
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

  /** Returns a JSON text as bytes. */
  static byte[] utf8(JsonValue value) {
    return value.toJson().getBytes(StandardCharsets.UTF_8);
  }
}
