package lectus.server.connection;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lectus.error.StartException;

/** What some files held when they were read; those that could not be read are missing. */
record FileContents(Map<Path, Buffer> byFile) {
  static FileContents read(List<Path> files) {
    Map<Path, Buffer> read = new HashMap<>();
    for (Path file : files) {
      try {
        read.put(file, Buffer.buffer(Files.readAllBytes(file)));
      } catch (IOException unreadable) {
        read.remove(file);
      }
    }
    return new FileContents(Map.copyOf(read));
  }

  /**
   * @throws StartException the file could not be read
   */
  Buffer of(Path file) {
    Buffer content = byFile.get(file);
    if (content == null) {
      throw StartException.lasting("The file " + file + " cannot be read, and TLS needs it.", null);
    }
    return content;
  }
}
