package lectus.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import lectus.cli.BackupFolder.StoredImage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lectus verify}: whether backups are whole, and what they go back to. */
@Command(
    name = "verify",
    description = {
      "Reads backups, without a server.",
      "Lists their images, and names damages.",
      "The exit status is 1 if there is one."
    },
    mixinStandardHelpOptions = true)
public final class VerifyCommand implements Callable<Integer> {
  private static final int DAMAGED = 1;

  private final Console console;

  @Parameters(
      paramLabel = "FOLDER",
      description = "The folder of backups, or that of one database in it.")
  private Path root;

  public VerifyCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    try {
      List<Path> folders = BackupFolder.all(root);
      if (folders.isEmpty()) {
        throw new IOException("there is no backup");
      }
      int status = 0;
      for (Path folder : folders) {
        status = Math.max(status, verify(folder));
      }
      return status;
    } catch (IOException e) {
      console.complain(root, e);
      return DAMAGED;
    }
  }

  private int verify(Path folder) {
    try (BackupFolder backup = BackupFolder.read(folder)) {
      for (StoredImage image : backup.images()) {
        console.say(
            "%s %s  %s  %s  %s  %s"
                .formatted(
                    backup.database(),
                    image.file(),
                    image.written(),
                    image.since().isPresent() ? "increment" : "whole    ",
                    image.sequence(),
                    Progress.bytes(image.bytes())));
      }
      Progress progress = Progress.of(console);
      long total = backup.images().stream().mapToLong(StoredImage::bytes).sum();
      List<String> damages = backup.verify(progress.ofBytes(backup.database(), total));
      progress.clear();
      damages.forEach(it -> console.complain(folder + ": " + it + "."));
      return damages.isEmpty() ? 0 : DAMAGED;
    } catch (IOException e) {
      console.complain(folder, e);
      return DAMAGED;
    }
  }
}
