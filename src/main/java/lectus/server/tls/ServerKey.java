package lectus.server.tls;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.X509KeyManager;

/** A private key and the certificate that clients are shown. */
record ServerKey(PrivateKey key, X509Certificate certificate) {
  private static final byte[] SIGNED = {'L', 'e', 'c', 't', 'u', 's'};

  private static final Map<String, String> SIGNATURES =
      Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

  /** Returns the first key for which there is a certificate. */
  static Optional<ServerKey> of(X509KeyManager keys) {
    return List.of("EC", "RSA", "EdDSA").stream()
        .flatMap(type -> Stream.ofNullable(keys.getServerAliases(type, null)))
        .flatMap(Stream::of)
        .map(alias -> new ServerKey(keys.getPrivateKey(alias), keys.getCertificateChain(alias)[0]))
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
