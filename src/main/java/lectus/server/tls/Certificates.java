package lectus.server.tls;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.PfxOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.TrustOptions;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509KeyManager;
import lectus.server.cluster.StartException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes what a server needs for TLS of the files' contents, and checks it before anybody uses it.
 */
final class Certificates {
  private static final Logger LOG = LoggerFactory.getLogger(Certificates.class);

  private static final List<String> VERSIONS = List.of("TLSv1.3", "TLSv1.2");

  private final TlsSettings settings;
  private final long handshakeSeconds;
  private final Vertx vertx;

  Certificates(TlsSettings settings, long handshakeSeconds, Vertx vertx) {
    this.settings = settings;
    this.handshakeSeconds = handshakeSeconds;
    this.vertx = vertx;
  }

  FileContents read() {
    return FileContents.read(settings.files());
  }

  /**
   * @throws StartException one sentence about what is wrong with the files
   */
  ServerSSLOptions check(FileContents contents) {
    ServerSSLOptions options =
        new ServerSSLOptions().setKeyCertOptions(checked(keys(contents))).setUseAlpn(true);
    options.setEnabledSecureTransportProtocols(new LinkedHashSet<>(VERSIONS));
    ciphers().forEach(options::addEnabledCipherSuite);
    options.setSslHandshakeTimeout(handshakeSeconds);
    options.setSslHandshakeTimeoutUnit(TimeUnit.SECONDS);
    settings.clientCa().ifPresent(file -> options.setTrustOptions(trust(file, contents)));
    return options.setClientAuth(settings.clients());
  }

  /**
   * Returns the JDK's ciphers, in its order, whose keys nobody can compute later who gets hold of
   * the server's: all of TLS 1.3, and of TLS 1.2 those with ephemeral elliptic curves.
   */
  private static List<String> ciphers() {
    try {
      return Stream.of(SSLContext.getDefault().getDefaultSSLParameters().getCipherSuites())
          .filter(it -> !it.contains("_WITH_") || it.startsWith("TLS_ECDHE_"))
          .toList();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JDK has TLS", e);
    }
  }

  private KeyCertOptions keys(FileContents contents) {
    if (settings.keys() instanceof KeySource.Pkcs12 store) {
      return new PfxOptions().setValue(contents.of(store.file())).setPassword(store.password());
    }
    KeySource.Pem pem = (KeySource.Pem) settings.keys();
    Buffer certificates = contents.of(pem.certificate());
    Buffer key = contents.of(pem.key());
    return EdwardsKey.of(certificates, key)
        .orElseGet(() -> new PemKeyCertOptions().addCertValue(certificates).addKeyValue(key));
  }

  /**
   * Returns when the certificate expires.
   *
   * @throws StartException as {@link #check}
   */
  Instant end(FileContents contents) {
    return key(keys(contents)).certificate().getNotAfter().toInstant();
  }

  private ServerKey key(KeyCertOptions options) {
    return ServerKey.of(manager(options)).orElseThrow(() -> unusable("holds no private key", null));
  }

  private KeyCertOptions checked(KeyCertOptions options) {
    ServerKey key = key(options);
    if (!key.isPair()) {
      throw unusable("holds a private key and a certificate that do not belong together", null);
    }
    if (!key.isCurrent()) {
      LOG.warn("The certificate in {} has expired, or is not valid yet.", names());
    }
    return options;
  }

  private X509KeyManager manager(KeyCertOptions options) {
    try {
      return (X509KeyManager) options.getKeyManagerFactory(vertx).getKeyManagers()[0];
    } catch (Exception unreadable) {
      String why =
          settings.keys() instanceof KeySource.Pem
              ? "needs a certificate and its private key (RSA, EC, Ed25519 or Ed448, not encrypted)"
                  + " in PEM form"
              : "is no PKCS#12 store, or has another password";
      throw unusable(why, unreadable);
    }
  }

  private TrustOptions trust(Path file, FileContents contents) {
    PemTrustOptions options = new PemTrustOptions().addCertValue(contents.of(file));
    try {
      options.getTrustManagerFactory(vertx);
      return options;
    } catch (Exception unreadable) {
      throw new StartException(
          "TLS cannot be used: " + file + " needs certificates in PEM form.", unreadable);
    }
  }

  private StartException unusable(String why, Exception cause) {
    return new StartException("TLS cannot be used: " + names() + " " + why + ".", cause);
  }

  private String names() {
    List<String> names = settings.keys().files().stream().map(Path::toString).distinct().toList();
    return String.join(" with ", names);
  }
}
