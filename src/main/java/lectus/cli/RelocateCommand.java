package lectus.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import lectus.cli.ServerUrl.RefusedException;
import lectus.config.ConfigurationException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lectus relocate}: a server moves a database to another place. */
@Command(
    name = "relocate",
    description = {
      "Moves a database to another server, cluster or store while it is used.",
      "The servers do it by themselves; the command begins it and waits for the end."
    },
    mixinStandardHelpOptions = true)
public final class RelocateCommand implements Callable<Integer> {
  /** The variables that have a name and a password for the other place. */
  static final String USER = "COUCHDB_TARGET_USER";

  static final String PASSWORD = "COUCHDB_TARGET_PASSWORD";

  private static final int FAILED = 1;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final long LOOK_MILLIS = 200;

  @Mixin private final ServerUrl.Flags flags;

  private final Map<String, String> environment;
  private final Console console;

  @Parameters(index = "0", paramLabel = "DATABASE", description = "The database.")
  private String database;

  @Option(
      names = "--from",
      paramLabel = "URL",
      converter = ServerUrl.Parsing.class,
      description = "The server that has it, in place of --url.")
  private Optional<URI> from = Optional.empty();

  @Option(
      names = "--to",
      required = true,
      paramLabel = "URL",
      converter = ServerUrl.Parsing.class,
      description =
          "The other server, as the first one reaches it, and perhaps the name of the database"
              + " there. Name and password may also be those of the variables COUCHDB_TARGET_USER"
              + " and COUCHDB_TARGET_PASSWORD.")
  private URI to;

  @Option(
      names = "--forward",
      paramLabel = "SECONDS",
      description = "How long the first server passes requests on. Default: for ever.")
  private Optional<Long> forward = Optional.empty();

  public RelocateCommand(Map<String, String> environment, Console console, PasswordPrompt prompt) {
    this.environment = environment;
    this.console = console;
    this.flags = new ServerUrl.Flags(environment, prompt);
  }

  @Override
  public Integer call() {
    ServerUrl.requireNames(List.of(database));
    if (forward.filter(it -> it < 0).isPresent()) {
      throw new ConfigurationException("--forward has to be 0 or more.");
    }
    if (from.isPresent() && flags.nameOne()) {
      throw new ConfigurationException("--from names the server, or --url or --data in its place.");
    }
    try (ServerUrl server =
        from.map(it -> flags.server(it, Serving.USER, Serving.PASSWORD)).orElseGet(flags::server)) {
      JsonBuffer asked = new JsonBuffer(256).ascii("{\"source\":").string(database);
      asked.ascii(",\"target\":").string(target());
      forward.ifPresent(it -> asked.ascii(",\"forward\":").number(it));
      HttpRequest.Builder request = server.request("/_relocations");
      request.header("Content-Type", "application/json");
      request.POST(BodyPublishers.ofByteArray(asked.octet('}').toBytes()));
      String id = begin(server, request.build());
      console.say(database + ", relocation " + id);
      return await(server, id);
    } catch (IOException e) {
      console.complain(database + " has not moved", e);
      return FAILED;
    }
  }

  /**
   * Returns the id, also of one that goes to the same place already, or has come there: a command
   * was ended.
   */
  private String begin(ServerUrl server, HttpRequest request) throws IOException {
    try {
      return text(server.json(request), "id");
    } catch (RefusedException refused) {
      boolean isAway = refused.status() == NOT_FOUND;
      if (!isAway && refused.status() != CONFLICT) {
        throw refused;
      }
      return server.json(server.request("/_relocations").build()).member("relocations").stream()
          .flatMap(all -> all.asList().stream())
          .filter(it -> text(it, "source").equals(database) && isTarget(text(it, "target")))
          .filter(it -> !text(it, "state").equals("ended"))
          .filter(it -> text(it, "state").equals("moved") == isAway)
          .map(it -> text(it, "id"))
          .findFirst()
          .orElseThrow(() -> refused);
    }
  }

  private boolean isTarget(String url) {
    String asked = to.toString().replaceFirst("//[^/]*@", "//").replaceFirst("/+$", "");
    return url.equals(asked) || url.equals(asked + '/' + ServerUrl.segment(database));
  }

  private String target() {
    String user = environment.getOrDefault(USER, "");
    if (to.getRawUserInfo() != null || user.isEmpty()) {
      return to.toString();
    }
    String login =
        ServerUrl.segment(user) + ':' + ServerUrl.segment(environment.getOrDefault(PASSWORD, ""));
    return to.toString().replaceFirst("//", "//" + login.replace("$", "\\$") + '@');
  }

  private int await(ServerUrl server, String id) throws IOException {
    String told = "";
    while (true) {
      JsonValue now = server.json(server.request("/_relocations/" + id).build());
      String state = text(now, "state");
      String reason = text(now, "reason");
      String line = state + (reason.isEmpty() ? "" : ": " + reason);
      if (!line.equals(told)) {
        console.say(database + ", " + line);
        told = line;
      }
      if (state.equals("moved")) {
        return 0;
      }
      if (state.equals("ended")) {
        throw new IOException(reason.replaceFirst("\\.$", ""));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        return FAILED;
      }
    }
  }

  private static String text(JsonValue answer, String member) {
    return answer.textOf(member).orElse("");
  }
}
