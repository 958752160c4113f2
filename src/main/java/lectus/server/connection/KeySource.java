package lectus.server.connection;

import io.vertx.core.http.ClientAuth;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Where the server's private key and its certificate are. */
public sealed interface KeySource {
  List<Path> files();

  /**
   * Two files in PEM form, which may be one.
   *
   * @param certificate the server's, followed by those of its issuers
   */
  record Pem(Path certificate, Path key) implements KeySource {
    @Override
    public List<Path> files() {
      return List.of(certificate, key);
    }
  }

  /** A key store in the form of PKCS#12. */
  record Pkcs12(Path file, String password) implements KeySource {
    @Override
    public List<Path> files() {
      return List.of(file);
    }

    /** Without the password: this may get into a log. */
    @Override
    public String toString() {
      return "Pkcs12[" + file + "]";
    }
  }

  /**
   * The administrator's settings of TLS.
   *
   * @param clientCa certificates in PEM form; a client's own must be signed by one of them
   * @param clients whether clients are asked for a certificate, and whether they need one
   */
  record TlsSettings(KeySource keys, Optional<Path> clientCa, ClientAuth clients) {
    List<Path> files() {
      List<Path> files = new ArrayList<>(keys.files());
      clientCa.ifPresent(files::add);
      return files;
    }
  }
}
