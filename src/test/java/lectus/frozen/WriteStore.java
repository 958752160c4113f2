package lectus.frozen;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;

/**
 * Writes {@code NAME.zip}, a store folder as this version leaves it, and {@code NAME.txt}, what
 * clients see of it. A new format gets a new name; the files of earlier versions never change.
 *
 * <pre>
 * java -cp … lectus.frozen.WriteStore src/test/resources/stores/NAME
 * </pre>
 */
public final class WriteStore {
  private WriteStore() {}

  public static void main(String[] args) throws IOException {
    Path folder = Files.createTempDirectory("lectus-store");
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        new StoreContent(server).write();
        Files.write(Path.of(args[0] + ".txt"), StoreListing.of(server));
      }
    }
    pack(folder, Path.of(args[0] + ".zip"));
  }

  private static void pack(Path folder, Path zip) throws IOException {
    List<Path> files;
    try (Stream<Path> tree = Files.walk(folder)) {
      files = tree.filter(Files::isRegularFile).sorted().toList();
    }
    try (OutputStream out = Files.newOutputStream(zip);
        ZipOutputStream packed = new ZipOutputStream(out)) {
      for (Path file : files) {
        packed.putNextEntry(new ZipEntry(folder.relativize(file).toString()));
        Files.copy(file, packed);
      }
    }
  }
}
