package lectus.config;

import io.vertx.core.http.ClientAuth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import lectus.server.tls.KeySource;
import lectus.server.tls.TlsSettings;

/** What the keys of TLS say together. */
final class ConfiguredTls {
  private final Configuration configuration;

  ConfiguredTls(Configuration configuration) {
    this.configuration = configuration;
  }

  /**
   * Returns empty if connections are not to be encrypted.
   *
   * @throws ConfigurationException values that do not go together
   */
  Optional<TlsSettings> settings() {
    Optional<KeySource> keys = keys();
    ClientAuth clients = clients();
    Optional<Path> clientCa = file(TlsKeys.CLIENT_CA);
    if (keys.isEmpty() && (clients != ClientAuth.NONE || clientCa.isPresent())) {
      throw new ConfigurationException(
          "Certificates of clients need TLS, and so a \"tls.certificate\" or a \"tls.keystore\".");
    }
    if ((clients == ClientAuth.NONE) == clientCa.isPresent()) {
      throw new ConfigurationException(
          "\"tls.client-certificates\" and \"tls.client-ca\" go together.");
    }
    return keys.map(source -> new TlsSettings(source, clientCa, clients));
  }

  private ClientAuth clients() {
    return switch (configuration.get(TlsKeys.CLIENT_CERTIFICATES)) {
      case "optional" -> ClientAuth.REQUEST;
      case "required" -> ClientAuth.REQUIRED;
      default -> ClientAuth.NONE;
    };
  }

  private Optional<KeySource> keys() {
    Optional<Path> certificate = file(TlsKeys.CERTIFICATE);
    Optional<Path> key = file(TlsKeys.KEY);
    Optional<Path> store = file(TlsKeys.KEYSTORE);
    if (store.isPresent() && (certificate.isPresent() || key.isPresent())) {
      throw new ConfigurationException(
          "\"tls.keystore\" takes the place of \"tls.certificate\" and \"tls.key\".");
    }
    if (key.isPresent() && certificate.isEmpty()) {
      throw new ConfigurationException("\"tls.key\" needs a \"tls.certificate\".");
    }
    return store.isPresent()
        ? store.map(file -> new KeySource.Pkcs12(file, password()))
        : certificate.map(file -> new KeySource.Pem(file, key.orElse(file)));
  }

  private String password() {
    return file(TlsKeys.KEYSTORE_PASSWORD_FILE)
        .map(ConfiguredTls::firstLine)
        .orElseGet(() -> configuration.get(TlsKeys.KEYSTORE_PASSWORD));
  }

  private static String firstLine(Path file) {
    try {
      return Files.readString(file).lines().findFirst().orElse("");
    } catch (IOException e) {
      throw new ConfigurationException("The password file " + file + " cannot be read.");
    }
  }

  private Optional<Path> file(ConfigurationKey<String> key) {
    String name = configuration.get(key);
    return name.isEmpty() ? Optional.empty() : Optional.of(Path.of(name));
  }
}
