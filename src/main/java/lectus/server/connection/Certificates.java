package lectus.server.connection;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.PfxOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.TrustOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509KeyManager;
import lectus.error.StartException;
import lectus.server.connection.KeySource.TlsSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes what a server needs for TLS of the files' contents, and checks it before anybody uses it.
 */
record Certificates(TlsSettings settings, long handshakeSeconds, Vertx vertx) {
  private static final Logger LOG = LoggerFactory.getLogger(Certificates.class);

  private static final List<String> VERSIONS = List.of("TLSv1.3", "TLSv1.2");

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
      throw StartException.lasting(
          "TLS cannot be used: " + file + " needs certificates in PEM form.", unreadable);
    }
  }

  private StartException unusable(String why, Exception cause) {
    return StartException.lasting("TLS cannot be used: " + names() + " " + why + ".", cause);
  }

  private String names() {
    List<String> names = settings.keys().files().stream().map(Path::toString).distinct().toList();
    return String.join(" with ", names);
  }

  /** A private key and the certificate that clients are shown. */
  private record ServerKey(PrivateKey key, X509Certificate certificate) {
    private static final byte[] SIGNED = {'L', 'e', 'c', 't', 'u', 's'};

    private static final Map<String, String> SIGNATURES =
        Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

    /** Returns the first key for which there is a certificate. */
    static Optional<ServerKey> of(X509KeyManager keys) {
      return List.of("EC", "RSA", "EdDSA").stream()
          .flatMap(type -> Stream.ofNullable(keys.getServerAliases(type, null)))
          .flatMap(Stream::of)
          .map(
              alias -> new ServerKey(keys.getPrivateKey(alias), keys.getCertificateChain(alias)[0]))
          .findFirst();
    }

    /** Whether the two belong together; otherwise each handshake would fail. */
    boolean isPair() {
      String algorithm = SIGNATURES.get(key.getAlgorithm());
      try {
        Signature signature = Signature.getInstance(algorithm == null ? "" : algorithm);
        signature.initSign(key);
        signature.update(SIGNED);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        signature.update(SIGNED);
        return signature.verify(signed);
      } catch (GeneralSecurityException differentKinds) {
        return false;
      }
    }

    /** Whether clients would take the certificate for one of this time. */
    boolean isCurrent() {
      try {
        certificate.checkValidity();
        return true;
      } catch (CertificateException expiredOrEarly) {
        return false;
      }
    }
  }

  /**
   * Ed25519 and Ed448 in PEM form (RFC 8410). The JDK speaks TLS with them, but Vert.x does not
   * read them from PEM files, so it gets a key store in memory.
   */
  private static final class EdwardsKey {
    private static final Pattern KEY = block("PRIVATE KEY");
    private static final Pattern CERTIFICATE = block("CERTIFICATE");

    /** Of a store that is never written to a disk. */
    private static final String PASSWORD = "in memory";

    private EdwardsKey() {}

    private static Pattern block(String what) {
      return Pattern.compile("-----BEGIN " + what + "-----([^-]*)-----END " + what + "-----");
    }

    /** Returns the key and its certificates; empty if it is of another kind, or none at all. */
    static Optional<KeyCertOptions> of(Buffer certificates, Buffer key) {
      try {
        Optional<PrivateKey> edwards = key(text(key));
        return edwards.isPresent()
            ? Optional.of(store(edwards.get(), certificates(text(certificates))))
            : Optional.empty();
      } catch (GeneralSecurityException | IOException | IllegalArgumentException unreadable) {
        return Optional.empty();
      }
    }

    private static String text(Buffer pem) {
      return pem.toString(StandardCharsets.US_ASCII);
    }

    private static Optional<PrivateKey> key(String pem) throws GeneralSecurityException {
      Matcher found = KEY.matcher(pem);
      return found.find()
          ? Optional.of(
              KeyFactory.getInstance("EdDSA")
                  .generatePrivate(new PKCS8EncodedKeySpec(bytes(found))))
          : Optional.empty();
    }

    private static Certificate[] certificates(String pem) throws CertificateException {
      List<Certificate> chain = new ArrayList<>();
      for (Matcher found = CERTIFICATE.matcher(pem); found.find(); ) {
        chain.add(
            CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(bytes(found))));
      }
      return chain.toArray(new Certificate[0]);
    }

    private static byte[] bytes(Matcher block) {
      return Base64.getMimeDecoder().decode(block.group(1));
    }

    private static KeyCertOptions store(PrivateKey key, Certificate[] chain)
        throws GeneralSecurityException, IOException {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry("server", key, PASSWORD.toCharArray(), chain);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      store.store(bytes, PASSWORD.toCharArray());
      return new PfxOptions().setValue(Buffer.buffer(bytes.toByteArray())).setPassword(PASSWORD);
    }
  }

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
        throw StartException.lasting(
            "The file " + file + " cannot be read, and TLS needs it.", null);
      }
      return content;
    }
  }
}
