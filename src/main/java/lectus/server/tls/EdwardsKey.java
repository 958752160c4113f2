package lectus.server.tls;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.PfxOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Ed25519 and Ed448 in PEM form (RFC 8410). The JDK speaks TLS with them, but Vert.x does not read
 * them from PEM files, so it gets a key store in memory.
 */
final class EdwardsKey {
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
            KeyFactory.getInstance("EdDSA").generatePrivate(new PKCS8EncodedKeySpec(bytes(found))))
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
