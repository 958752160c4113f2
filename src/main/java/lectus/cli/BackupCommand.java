package lectus.cli;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import lectus.cli.BackupFolder.AnotherInstanceException;
import lectus.cli.BackupFolder.LackingContentException;
import lectus.cli.BackupFolder.StoredImage;
import lectus.cli.ServerUrl.RefusedException;
import lectus.config.ConfigurationException;
import lectus.image.HeldContents;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.embedded.engine.folder.DurableFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lectus backup}: images of databases, from a server that runs. */
@Command(
    name = "backup",
    description = {
      "Adds to the backups of databases what changed since the last time; the first time, "
          + "all of it.",
      "The server may be in use meanwhile."
    },
    mixinStandardHelpOptions = true)
public final class BackupCommand implements Callable<Integer> {
  private static final String METRIC = "lectus_backup_last_success_timestamp_seconds";
  private static final int FAILED = 1;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final int PRECONDITION_FAILED = 412;

  @Mixin private final ServerUrl.Flags flags;

  private final Console console;

  @Parameters(arity = "0..*", paramLabel = "DATABASE", description = "The databases.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--all", description = "All databases of the server.")
  private boolean all;

  @Option(
      names = "--to",
      paramLabel = "FOLDER",
      description = "Where backups are kept: a folder for each database.")
  private Path root;

  @Option(
      names = "--whole-every",
      paramLabel = "DAYS",
      description = {
        "The whole again, as the first time, once the last whole image is so many days old.",
        "0: now. By default only increments follow the first."
      })
  private Optional<Integer> wholeEvery = Optional.empty();

  @Option(
      names = "--keep",
      paramLabel = "NUMBER",
      description = {
        "Keeps the last so many images of a whole database, with the increments after each;",
        "removes older ones."
      })
  private Optional<Integer> kept = Optional.empty();

  @Option(
      names = "--metrics",
      paramLabel = "FILE",
      description =
          "Writes when the last backup of each database was begun, for Prometheus: a file for the "
              + "textfile collector of its node exporter.")
  private Optional<Path> metrics = Optional.empty();

  @Option(
      names = "--store",
      description =
          "The whole embedded store: the server makes a folder that shares its files, for tools "
              + "that copy folders, and the command prints its path.")
  private boolean isOfStore;

  public BackupCommand(Map<String, String> environment, Console console, PasswordPrompt prompt) {
    this.flags = new ServerUrl.Flags(environment, prompt);
    this.console = console;
  }

  @Override
  public Integer call() {
    boolean isOfDatabases = all || !names.isEmpty();
    if (isOfStore == isOfDatabases || (all && !names.isEmpty())) {
      throw new ConfigurationException(
          "There are names of databases, or --all of them, or --store, the whole store.");
    }
    if (isOfDatabases && root == null) {
      throw new ConfigurationException("--to has to name the folder of backups.");
    }
    if (kept.filter(it -> it < 1).isPresent() || wholeEvery.filter(it -> it < 0).isPresent()) {
      throw new ConfigurationException("--keep has to be 1 or more, and --whole-every 0 or more.");
    }
    try (ServerUrl server = flags.server()) {
      return isOfStore ? checkpoint(server) : backUp(server, all ? server.databases() : names);
    } catch (IOException e) {
      console.complain("Not all was done", e);
      return FAILED;
    }
  }

  private int checkpoint(ServerUrl server) throws IOException {
    HttpRequest.Builder request = server.requestWithoutEnd("/_node/_local/_checkpoint");
    JsonValue answer = server.jsonInTheEnd(request.POST(BodyPublishers.noBody()).build());
    if (answer instanceof JsonObject made
        && made.get("path").orElse(null) instanceof JsonString path) {
      console.say(path.value());
      return 0;
    }
    throw new IOException("the server does not say where it is");
  }

  private int backUp(ServerUrl server, List<String> databases) throws IOException {
    int status = 0;
    for (String database : databases) {
      try {
        backUp(server, database);
      } catch (IOException e) {
        console.complain(database, e);
        status = FAILED;
      }
    }
    for (Path file : metrics.stream().toList()) {
      DurableFile.replace(file, metrics());
      if (DurableFile.hasPermissions(file)) {
        // Its reader is another user.
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
      }
    }
    return status;
  }

  /** Also of databases for which it failed this time. */
  private String metrics() throws IOException {
    StringBuilder text = new StringBuilder();
    text.append("# HELP ").append(METRIC).append(" When the last good backup was begun.\n");
    text.append("# TYPE ").append(METRIC).append(" gauge\n");
    for (Path each : BackupFolder.all(root)) {
      try (BackupFolder folder = BackupFolder.read(each)) {
        for (StoredImage last : folder.last().stream().toList()) {
          text.append(METRIC + "{database=\"").append(folder.database()).append("\"} ");
          text.append(Instant.parse(last.written()).getEpochSecond()).append('\n');
        }
      } catch (IOException damaged) {
        console.complain(each, damaged);
      }
    }
    return text.toString();
  }

  private void backUp(ServerUrl server, String database) throws IOException {
    try (BackupFolder folder = BackupFolder.write(root, database)) {
      Optional<String> since =
          isDue(folder) ? Optional.empty() : folder.last().map(StoredImage::sequence);
      StoredImage added;
      try {
        added = since.isPresent() ? addIncrement(server, folder, since) : add(server, folder);
      } catch (IOException failure) {
        if (since.isEmpty() || !isOfIncrement(failure)) {
          throw failure;
        }
        console.say(database + ": the whole again, because " + failure.getMessage() + ".");
        added = add(server, folder);
      }
      for (int chains : kept.stream().toList()) {
        folder.keep(chains);
      }
      console.say(
          database
              + ": "
              + (added.since().isPresent() ? "an increment" : "the whole")
              + " up to "
              + added.sequence()
              + ", "
              + Progress.bytes(added.bytes())
              + " in "
              + folder.fileOf(added));
    }
  }

  /** Whether the whole is to be made again. An hour less than a day is one to a nightly command. */
  private boolean isDue(BackupFolder folder) throws IOException {
    if (wholeEvery.isEmpty() || folder.images().isEmpty()) {
      return false;
    }
    Instant last = Instant.parse(folder.chainTo(Optional.empty()).get(0).written());
    return !Instant.now().isBefore(last.plus(Duration.ofDays(wholeEvery.get()).minusHours(1)));
  }

  /** Whether a failure may say that there is no increment since a sequence, or no longer. */
  private static boolean isOfIncrement(IOException failure) {
    return failure instanceof AnotherInstanceException
        || (failure instanceof RefusedException refused
            && Set.of(NOT_FOUND, CONFLICT, PRECONDITION_FAILED).contains(refused.status()));
  }

  /** Adds an increment without the contents that are there; with them if that is not possible. */
  private StoredImage addIncrement(ServerUrl server, BackupFolder folder, Optional<String> since)
      throws IOException {
    HeldContents held = folder.held();
    byte[] named = held.named();
    if (named.length > 0) {
      try {
        return add(server, folder, since, held, named);
      } catch (RefusedException | LackingContentException olderServer) {
        held = folder.held();
      }
    }
    return add(server, folder, since, held, new byte[0]);
  }

  private StoredImage add(ServerUrl server, BackupFolder folder) throws IOException {
    return add(server, folder, Optional.empty(), new HeldContents(), new byte[0]);
  }

  private StoredImage add(
      ServerUrl server,
      BackupFolder folder,
      Optional<String> since,
      HeldContents held,
      byte[] named)
      throws IOException {
    String path =
        "/"
            + ServerUrl.segment(folder.database())
            + "/_image?follower="
            + folder.follower()
            + since.map(it -> "&since=" + it).orElse("");
    Progress progress = Progress.of(console);
    try (InputStream image = server.stream(path, named)) {
      return folder.add(image, since, held, progress.ofBytes(folder.database(), 0));
    } finally {
      progress.clear();
    }
  }
}
