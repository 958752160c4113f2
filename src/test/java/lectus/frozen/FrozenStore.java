package lectus.frozen;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Copies of the store folders that earlier versions wrote. */
public final class FrozenStore {
  static final Path ALL = Path.of("src/test/resources/stores");

  private FrozenStore() {}

  public static void unpack(String name, Path folder) throws IOException {
    try (InputStream packed = Files.newInputStream(ALL.resolve(name + ".zip"));
        ZipInputStream zip = new ZipInputStream(packed)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = folder.resolve(entry.getName());
        Files.createDirectories(file.getParent());
        Files.copy(zip, file);
      }
    }
  }
}
