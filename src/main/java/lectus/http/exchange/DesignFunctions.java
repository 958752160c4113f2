package lectus.http.exchange;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.ResumePoint;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.document.DocumentId;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.error.LectusError;
import lectus.error.LectusError.BadRequest;
import lectus.error.LectusException;
import lectus.http.RequestTarget;
import lectus.http.limits.ClientMemory;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.script.Call;
import lectus.script.Call.Program;
import lectus.script.Kind;
import lectus.script.Outcome;
import lectus.script.Scripts;
import lectus.script.Scripts.Pool;

/** The functions of design documents that requests name. */
public final class DesignFunctions {
  private final Scripts scripts;
  private final Catalogue catalogue;
  private final DatabaseInfo info;
  private final DocumentReader documents;
  private final ClientMemory memory;
  private final Map<String, Held> held = new HashMap<>();

  /** A program that feeds keep, and how many. */
  private record Held(Program program, int feeds) {
    Held and(int more) {
      return new Held(program, feeds + more);
    }
  }

  /**
   * @param memory counts documents as long as functions are asked about them, and programs as long
   *     as feeds keep them
   */
  public DesignFunctions(
      Scripts scripts,
      Catalogue catalogue,
      DatabaseInfo info,
      DocumentReader documents,
      ClientMemory memory) {
    this.scripts = scripts;
    this.catalogue = catalogue;
    this.info = info;
    this.documents = documents;
    this.memory = memory;
  }

  /**
   * A function that can be called.
   *
   * @param account whose turn it is when it runs: the database's
   * @param security the database's security object, as JSON
   */
  private record Loaded(String account, Program program, byte[] security) {}

  /**
   * Reads the design document. What a revision has may be purged and come again with another body,
   * so that a digest tells programs apart.
   *
   * @throws LectusException {@code not_found}: there is none, or it has no such function
   */
  private Loaded load(DatabaseRequest asked, DesignFunction function) {
    JsonBuffer json = new JsonBuffer(1_024);
    String id = DocumentId.DESIGN_PREFIX + function.design();
    documents.read(asked, id, DocumentQuery.DEFAULT, json);
    byte[] document = json.toBytes();
    member(member(JsonValue.parse(document), function.path().get(0)), function.path().get(1));
    String account = catalogue.open(asked.name()).instance().hex();
    return new Loaded(
        account,
        new Program(
            account + ' ' + id + ' ' + RequestObject.digest(document),
            asked.name().text() + "/" + id,
            document),
        catalogue.security(asked.name()));
  }

  private static JsonValue member(JsonValue json, String name) {
    if (json instanceof JsonValue.JsonObject object) {
      return object
          .get(name)
          .orElseThrow(() -> LectusException.notFound("missing json key: " + name));
    }
    throw LectusException.notFound("json_mismatch");
  }

  /** Returns a request as the function sees it. */
  private byte[] json(DatabaseRequest asked, Loaded function, RequestObject request) {
    JsonBuffer out = new JsonBuffer(512);
    info.append(asked, out);
    String uuid = UUID.randomUUID().toString().replace("-", "");
    return request.json(uuid, out.toBytes(), function.security());
  }

  /**
   * Opens a feed that a function filters. Waits for the store.
   *
   * @param opening opens it with the filter
   * @throws LectusException {@code not_found}: the design document, or its function;
   *     service_unavailable (503): others hold too much memory
   */
  public <P extends ResumePoint<P>> LiveStart<P> open(
      DatabaseRequest asked,
      DesignFunction function,
      RequestObject request,
      Function<FunctionFilter, LiveStart<P>> opening) {
    Loaded loaded = load(asked, function);
    boolean sees = function.kind() == Kind.FILTER;
    List<byte[]> arguments = sees ? List.of(json(asked, loaded, request)) : List.of();
    String key = loaded.program().key();
    Program program = keep(loaded.program());
    try {
      FunctionFilter filter =
          new FunctionFilter(
              scripts,
              memory.pages(),
              loaded.account(),
              program,
              new Call(function.kind(), function.path(), arguments),
              sees ? request.shared(loaded.security()) : "");
      return opening.apply(filter).closing(() -> giveBack(key));
    } catch (Throwable failure) {
      giveBack(key);
      throw failure;
    }
  }

  /** A design document may be large, and is kept once for all feeds that it filters. */
  private synchronized Program keep(Program program) {
    Held known = held.get(program.key());
    if (known == null) {
      memory.filters().reserve(program.json().length, 0);
      known = new Held(program, 0);
    }
    held.put(program.key(), known.and(1));
    return known.program();
  }

  private synchronized void giveBack(String key) {
    Held left = held.get(key).and(-1);
    if (left.feeds() == 0) {
      held.remove(key);
      memory.filters().release(left.program().json().length, left.program().json().length);
    } else {
      held.put(key, left);
    }
  }

  /** A call of an update function. */
  public record Update(String account, Program program, Call call) {

    /** Returns about how many bytes of memory it takes. */
    public long bytes() {
      return call.arguments().stream().mapToLong(it -> it.length).sum();
    }
  }

  /**
   * Prepares the update of a document. Waits for the store.
   *
   * @param document as JSON, or {@code null}
   * @throws LectusException as {@link #open}
   */
  public Update update(
      DatabaseRequest asked, DesignFunction function, byte[] document, RequestObject request) {
    Loaded loaded = load(asked, function);
    List<byte[]> arguments = List.of(document, json(asked, loaded, request));
    return new Update(
        loaded.account(), loaded.program(), new Call(function.kind(), function.path(), arguments));
  }

  /** Runs an update; whoever does not want its result any more cancels it. */
  public CompletableFuture<Outcome> run(Update update) {
    return scripts
        .run(Pool.INTERACTIVE, update.account(), update.program(), List.of(update.call()))
        .get(0);
  }

  /**
   * Compiles the functions of a design document that is about to be stored, before any transaction.
   *
   * @param document as JSON
   * @return {@code compilation_error}; empty if all compile, or none can be run just now
   */
  public CompletableFuture<Optional<LectusError>> problem(
      DatabaseName database, String id, byte[] document) {
    Program program =
        new Program(RequestObject.digest(document), database.text() + "/" + id, document);
    Call call = new Call(Kind.COMPILE, List.of(), List.of());
    return scripts
        .run(Pool.INTERACTIVE, database.text(), program, List.of(call))
        .get(0)
        .thenApply(outcome -> reason(outcome).map(it -> new BadRequest("compilation_error", it)));
  }

  private static Optional<String> reason(Outcome outcome) {
    if (outcome instanceof Outcome.NotCompiled broken) {
      return Optional.of(broken.reason());
    }
    if (outcome instanceof Outcome.Thrown thrown) {
      return Optional.of(thrown.error() + ": " + thrown.reason());
    }
    return outcome instanceof Outcome.Failed failed && failed.isOfCall()
        ? Optional.of(failed.reason())
        : Optional.empty();
  }

  /** Returns the name of the engine that runs functions, and its version. */
  public String engine() {
    return scripts.engine();
  }

  /**
   * A function of a design document that a request names.
   *
   * @param design the design document's name
   * @param kind what it is called for
   * @param path of the function in the design document
   */
  public record DesignFunction(String design, Kind kind, List<String> path) {

    /**
     * Returns the function that filters a feed: {@code filter=design/name}, or {@code filter=_view}
     * with {@code view=design/name}. Empty if none is named, or a filter of the server's own.
     *
     * @throws LectusException {@code bad_request}, with CouchDB's reasons
     */
    public static Optional<DesignFunction> ofFeed(Optional<String> filter, Optional<String> view) {
      return switch (filter.orElse("")) {
        case "", "_doc_ids", "_selector", "_design" -> Optional.empty();
        case "_view" -> Optional.of(ofView(view.orElse("")));
        default -> ofFilter(filter.get());
      };
    }

    private static Optional<DesignFunction> ofFilter(String filter) {
      if (filter.startsWith("_")) {
        throw LectusException.badRequest("unknown builtin filter name");
      }
      List<String> names = names(filter);
      if (names.isEmpty()) {
        return Optional.empty();
      }
      if (names.size() != 2) {
        throw LectusException.badRequest("`filter` must be of the form `designname/filtername`");
      }
      return Optional.of(
          new DesignFunction(names.get(0), Kind.FILTER, List.of("filters", names.get(1))));
    }

    private static DesignFunction ofView(String view) {
      if (view.isEmpty()) {
        throw LectusException.badRequest("`view` filter parameter is not provided.");
      }
      List<String> names = names(view);
      if (names.size() != 2) {
        throw LectusException.badRequest("`view` must be of the form `designname/viewname`");
      }
      return new DesignFunction(
          names.get(0), Kind.VIEW_FILTER, List.of("views", names.get(1), "map"));
    }

    /** A name that contains slashes arrives encoded twice. */
    private static List<String> names(String path) {
      return Arrays.stream(path.split("/"))
          .filter(name -> !name.isEmpty())
          .map(
              name ->
                  new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1))
          .map(name -> RequestTarget.decode(name, 0, name.length()))
          .toList();
    }
  }
}
