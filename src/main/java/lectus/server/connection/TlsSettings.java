package lectus.server.connection;

import io.vertx.core.http.ClientAuth;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The administrator's settings of TLS.
 *
 * @param clientCa certificates in PEM form; a client's own must be signed by one of them
 * @param clients whether clients are asked for a certificate, and whether they need one
 */
public record TlsSettings(KeySource keys, Optional<Path> clientCa, ClientAuth clients) {
  /** Returns the files whose content counts. */
  List<Path> files() {
    List<Path> files = new ArrayList<>(keys.files());
    clientCa.ifPresent(files::add);
    return files;
  }
}
