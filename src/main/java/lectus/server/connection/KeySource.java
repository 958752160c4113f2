package lectus.server.connection;

import java.nio.file.Path;
import java.util.List;

/** Where the server's private key and its certificate are. */
public sealed interface KeySource {
  /** Returns the files that it needs. */
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
}
