package lectus.cli;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import lectus.cli.BackupFolder.StoredImage;
import lectus.cli.ServerUrl.RefusedException;
import lectus.config.ConfigurationException;
import lectus.database.DatabaseName;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lectus restore}: a server gets databases back from backups. */
@Command(
    name = "restore",
    description = {
      "Makes databases of their backups.",
      "A database appears when it is whole; it must not be there before."
    },
    mixinStandardHelpOptions = true)
public final class RestoreCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int NOT_FOUND = 404;

  @Mixin private final ServerUrl.Flags flags;

  private final Console console;

  @Parameters(
      index = "0",
      paramLabel = "FOLDER",
      description = "The folder of backups, or that of one database in it.")
  private Path root;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "DATABASE",
      description = {
        "The databases; by default all in the folder but those whose replications would begin:",
        "_replicator, and what ends in /_replicator."
      })
  private List<String> names = new ArrayList<>();

  @Option(names = "--as", paramLabel = "NAME", description = "The new name of the one database.")
  private String newName;

  @Option(
      names = "--at",
      paramLabel = "SEQUENCE",
      description = "As it was at this sequence, one of those that \"lectus verify\" lists.")
  private String sequence;

  public RestoreCommand(Map<String, String> environment, Console console, PasswordPrompt prompt) {
    this.flags = new ServerUrl.Flags(environment, prompt);
    this.console = console;
  }

  @Override
  public Integer call() {
    try (ServerUrl server = flags.server()) {
      List<Path> folders =
          names.isEmpty()
              ? BackupFolder.all(root)
              : names.stream().map(it -> BackupFolder.of(root, it)).toList();
      if (folders.isEmpty()) {
        throw new IOException("there is no backup in " + root);
      }
      if (folders.size() > 1 && (newName != null || sequence != null)) {
        throw new ConfigurationException("--as and --at are for one database.");
      }
      if (newName != null && !DatabaseName.isLegal(newName)) {
        throw new ConfigurationException("\"" + newName + "\" is no name of a database.");
      }
      int status = 0;
      for (Path folder : folders) {
        status = Math.max(status, restore(server, folder));
      }
      return status;
    } catch (IOException e) {
      console.complain("Nothing was restored", e);
      return FAILED;
    }
  }

  private int restore(ServerUrl server, Path folder) {
    try (BackupFolder backup = BackupFolder.read(folder)) {
      if (names.isEmpty() && !folder.equals(root) && isReplicator(backup.database())) {
        console.say(
            backup.database()
                + ": left out, because its replications would begin; name it to restore it");
        return 0;
      }
      String database = newName == null ? backup.database() : newName;
      List<StoredImage> chain = backup.chainTo(Optional.ofNullable(sequence));
      send(server, backup, chain, database);
      console.say(database + ": restored up to " + chain.get(chain.size() - 1).sequence());
      return 0;
    } catch (IOException e) {
      console.complain(folder, e);
      return FAILED;
    }
  }

  /** Whether the documents of a database are run. */
  static boolean isReplicator(String database) {
    return database.equals("_replicator") || database.endsWith("/_replicator");
  }

  private void send(ServerUrl server, BackupFolder backup, List<StoredImage> chain, String database)
      throws IOException {
    String path = "/" + ServerUrl.segment(database);
    // A server that refuses an upload may close the connection before it can say why.
    int found = server.status(path);
    if (found != NOT_FOUND && found / 100 != 2) {
      throw new RefusedException(found, "");
    }
    if (found != NOT_FOUND) {
      throw new IOException("the database " + database + " is there; --as gives another name");
    }
    Progress progress = Progress.of(console);
    // All bytes are read twice: checked, and sent.
    long total = 2 * chain.stream().mapToLong(StoredImage::bytes).sum();
    LongConsumer told = progress.ofBytes(database, total);
    try {
      List<String> damages = backup.verify(chain, told);
      if (!damages.isEmpty()) {
        throw new IOException(String.join("; ", damages));
      }
      HttpRequest request =
          server
              .requestWithoutEnd(path + "/_image")
              .header("Content-Type", "application/octet-stream")
              .POST(BodyPublishers.ofInputStream(() -> backup.content(chain, told)))
              .build();
      server.jsonInTheEnd(request);
    } finally {
      progress.clear();
    }
  }
}
