package lectus.http.testing;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A private key and a certificate that it has signed itself, made for a test. */
public final class TestCertificate {
  public static final String PASSWORD = "open sesame";

  private static final String ALIAS = "only";

  /** Each takes a JVM of its own; test classes ask for the same ones. */
  private static final Map<List<String>, byte[]> MADE = new ConcurrentHashMap<>();

  private final Path store;
  private final KeyStore keys;

  private TestCertificate(Path store, KeyStore keys) {
    this.store = store;
    this.keys = keys;
  }

  /**
   * @param name in a folder that is removed after the test
   * @param algorithm EC or RSA
   */
  public static TestCertificate create(Path folder, String name, String algorithm) {
    return create(folder, name, algorithm, 90);
  }

  /** As above, for another number of days. */
  public static TestCertificate create(Path folder, String name, String algorithm, int days) {
    return create(folder, name, algorithm, days, "dns:localhost,ip:127.0.0.1");
  }

  /** As above, for one host alone, which is the name, too. */
  public static TestCertificate of(Path folder, String host) {
    return create(folder, host, "EC", 90, "dns:" + host);
  }

  private static TestCertificate create(
      Path folder, String name, String algorithm, int days, String hosts) {
    Path store = folder.resolve(name + ".p12");
    byte[] made =
        MADE.computeIfAbsent(
            List.of(name, algorithm, Integer.toString(days), hosts), TestCertificate::make);
    try {
      Files.write(store, made);
      KeyStore keys = KeyStore.getInstance("PKCS12");
      keys.load(new ByteArrayInputStream(made), PASSWORD.toCharArray());
      return new TestCertificate(store, keys);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * @param asked name, algorithm, days and hosts
   */
  private static byte[] make(List<String> asked) {
    try {
      Path folder = Files.createTempDirectory("lectus-certificate");
      Path store = folder.resolve("p12");
      keytool(
          List.of(
              "-J-XX:TieredStopAtLevel=1",
              "-J-XX:+UseSerialGC",
              "-genkeypair",
              "-alias",
              ALIAS,
              "-keyalg",
              asked.get(1),
              "-dname",
              "CN=" + asked.get(0),
              "-ext",
              "SAN=" + asked.get(3),
              "-validity",
              asked.get(2),
              "-storetype",
              "PKCS12",
              "-keystore",
              store.toString(),
              "-storepass",
              PASSWORD));
      byte[] made = Files.readAllBytes(store);
      Files.delete(store);
      Files.delete(folder);
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void keytool(List<String> arguments) {
    Path tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    ProcessBuilder process = new ProcessBuilder(tool.toString()).inheritIO();
    process.command().addAll(arguments);
    try {
      int status = process.start().waitFor();
      if (status != 0) {
        throw new IllegalStateException("keytool ended with " + status);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the PKCS#12 store. */
  public Path store() {
    return store;
  }

  public X509Certificate certificate() {
    try {
      return (X509Certificate) keys.getCertificate(ALIAS);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Writes the certificate in PEM form. */
  public Path writeCertificate(Path file) {
    try {
      return write(file, "CERTIFICATE", certificate().getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Writes the private key in PEM form. */
  public Path writeKey(Path file) {
    try {
      byte[] key = keys.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded();
      return write(file, "PRIVATE KEY", key);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Path write(Path file, String what, byte[] content) {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    String pem = "-----BEGIN " + what + "-----\n" + lines + "\n-----END " + what + "-----\n";
    try {
      return Files.writeString(file, pem);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what a client uses that trusts this certificate and no other. */
  public SSLContext trusted() {
    return trusted(new KeyManager[0]);
  }

  /** As above, for a client that shows a certificate of its own. */
  public SSLContext trusted(TestCertificate own) {
    try {
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own.keys, PASSWORD.toCharArray());
      return trusted(keys.getKeyManagers());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private SSLContext trusted(KeyManager[] own) {
    try {
      KeyStore trust = KeyStore.getInstance("PKCS12");
      trust.load(null, null);
      trust.setCertificateEntry(ALIAS, certificate());
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trust);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(own, managers.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
