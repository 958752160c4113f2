package lectus.cli;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import lectus.config.ConfigurationException;
import lectus.error.LectusException;
import lectus.http.client.CouchClient.RemoteFailure;
import lectus.http.client.HttpCaller;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.Comparison;
import lectus.replication.RemoteDatabase;
import lectus.replication.ReplicationFailure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lectus compare}: whether databases of two servers are the same, leaf by leaf. */
@Command(
    name = "compare",
    description = {
      "Compares databases with those of another server: all leaves, histories, bodies, "
          + "attachments, security objects and the limit of revisions.",
      "Nobody should write to them meanwhile.",
      "The exit status is 0 if they are the same, 1 if they differ, and 2 if they cannot be read."
    },
    mixinStandardHelpOptions = true)
public final class CompareCommand implements Callable<Integer> {
  private static final int NOT_COMPARED = CheckCommand.NOT_CHECKED;

  private static final int DIFFERENT = 1;

  /** So many differences are shown, and the others counted. */
  private static final int MOST_SHOWN = 1_000;

  @Mixin private final ServerUrl.Flags flags;

  private final Console console;

  @Parameters(arity = "1..*", paramLabel = "DATABASE", description = "The databases.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--with",
      paramLabel = "URL",
      converter = ServerUrl.Parsing.class,
      required = true,
      description =
          "The other server, or a database of it. Name and password may also be those of the "
              + "variables COUCHDB_SOURCE_USER and COUCHDB_SOURCE_PASSWORD.")
  private URI with;

  @Option(names = "--local", description = "Local documents, too, but for checkpoints.")
  private boolean takesLocal;

  public CompareCommand(Map<String, String> environment, Console console, PasswordPrompt prompt) {
    this.flags = new ServerUrl.Flags(environment, prompt);
    this.console = console;
  }

  @Override
  public Integer call() {
    ServerUrl there = flags.serverOrDatabase(with, ImportCommand.USER, ImportCommand.PASSWORD);
    if (there.hasPath() && names.size() > 1) {
      throw new ConfigurationException("--with has to name a server for several databases.");
    }
    ServerUrl.requireNames(names);
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    try (ServerUrl here = flags.server();
        HttpCaller caller = new HttpCaller(vertx, flags.clientSettings())) {
      int status = 0;
      for (String name : names) {
        status = Math.max(status, compare(caller, here, there, name));
      }
      return status;
    } finally {
      vertx.close();
    }
  }

  private int compare(HttpCaller caller, ServerUrl here, ServerUrl there, String name) {
    String path = "/" + ServerUrl.segment(name);
    String other = there.hasPath() ? "" : path;
    Progress progress = Progress.of(console);
    AtomicLong differences = new AtomicLong();
    AtomicLong compared = new AtomicLong();
    Consumer<String> found = it -> tell(name, it, differences, progress);
    try {
      requireDatabase(there, other);
      requireDatabase(here, path);
      compareSettings(here, path, there, other, found);
      if (takesLocal) {
        compareLocal(here, path, there, other, found);
      }
      new Comparison(
              RemoteDatabase.whole(caller, here.address(path)),
              RemoteDatabase.whole(caller, there.address(other)),
              found,
              more -> {
                long leaves = compared.addAndGet(more);
                progress.show(OptionalDouble.empty(), () -> name + ", " + leaves + " leaves");
              })
          .run();
    } catch (IOException | LectusException failure) {
      return failed(name, failure.getMessage(), progress);
    } catch (ReplicationFailure | RemoteFailure | CompletionException failure) {
      return failed(name, ReplicationFailure.of(failure).reason(), progress);
    }
    progress.clear();
    long more = differences.get() - MOST_SHOWN;
    if (more > 0) {
      console.say(name + ": and " + more + " more differences");
    }
    console.say(
        name + ": " + compared + " leaves, " + (differences.get() == 0 ? "the same" : "different"));
    return differences.get() == 0 ? 0 : DIFFERENT;
  }

  private static void requireDatabase(ServerUrl server, String path) throws IOException {
    if (server.find(path).isEmpty()) {
      throw new IOException("there is no database " + server + path);
    }
  }

  private static void compareSettings(
      ServerUrl here, String path, ServerUrl there, String other, Consumer<String> found)
      throws IOException {
    for (String setting : List.of("_security", "_revs_limit")) {
      Optional<JsonValue> mine = here.find(path + '/' + setting);
      Optional<JsonValue> its = there.find(other + '/' + setting);
      if (mine.isPresent() && its.isPresent() && !mine.equals(its)) {
        found.accept(setting + " differs");
      }
    }
  }

  private static void compareLocal(
      ServerUrl here, String path, ServerUrl there, String other, Consumer<String> found)
      throws IOException {
    here.each(
        path + "/_local_docs",
        "_local",
        id -> {
          Optional<JsonObject> mine = here.local(path + ServerUrl.path(id));
          Optional<JsonObject> its = there.local(other + ServerUrl.path(id));
          if (mine.isPresent() && its.isEmpty()) {
            found.accept(id + ": is missing in " + there + other);
          } else if (mine.isPresent()) {
            Comparison.difference(body(mine.get()), body(its.get()), "")
                .ifPresent(it -> found.accept(id + ": " + it.substring(1) + " differs"));
          }
        });
    there.each(
        other + "/_local_docs",
        "_local",
        id -> {
          boolean isThere = there.local(other + ServerUrl.path(id)).isPresent();
          if (isThere && here.local(path + ServerUrl.path(id)).isEmpty()) {
            found.accept(id + ": is missing in " + here + path);
          }
        });
  }

  /** Revisions of local documents count what was written to one database. */
  private static JsonObject body(JsonObject local) {
    Map<String, JsonValue> members = new TreeMap<>(local.members());
    members.remove("_rev");
    return new JsonObject(members);
  }

  private void tell(String name, String difference, AtomicLong differences, Progress progress) {
    if (differences.incrementAndGet() <= MOST_SHOWN) {
      progress.clear();
      console.say(name + ": " + difference);
    }
  }

  private int failed(String name, String why, Progress progress) {
    progress.clear();
    console.complain(name + " could not be compared: " + why.replaceFirst("\\.$", "") + ".");
    return NOT_COMPARED;
  }
}
