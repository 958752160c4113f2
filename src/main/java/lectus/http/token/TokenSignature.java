package lectus.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.util.Map;
import javax.crypto.SecretKey;
import lectus.error.LectusException;

/**
 * Whose signature a token has. The family of the key follows from the token's algorithm, so a
 * public key is never taken for a secret.
 */
final class TokenSignature {
  /** The JDK verifies it; the library would need another one for that. */
  private static final String ED_FAMILY = "ed";

  private static final Map<JWSAlgorithm, String> FAMILIES =
      Map.ofEntries(
          Map.entry(JWSAlgorithm.HS256, "hmac"),
          Map.entry(JWSAlgorithm.HS384, "hmac"),
          Map.entry(JWSAlgorithm.HS512, "hmac"),
          Map.entry(JWSAlgorithm.RS256, "rsa"),
          Map.entry(JWSAlgorithm.RS384, "rsa"),
          Map.entry(JWSAlgorithm.RS512, "rsa"),
          Map.entry(JWSAlgorithm.ES256, "ec"),
          Map.entry(JWSAlgorithm.ES384, "ec"),
          Map.entry(JWSAlgorithm.ES512, "ec"),
          Map.entry(JWSAlgorithm.EdDSA, ED_FAMILY));

  private TokenSignature() {}

  /**
   * @throws LectusException {@code bad_request}: another algorithm; {@code unauthorized}: no such
   *     key, or it did not sign the token
   */
  static void check(JWSObject token, TokenKeys keys) {
    JWSHeader header = token.getHeader();
    String family = FAMILIES.get(header.getAlgorithm());
    if (family == null) {
      throw LectusException.badRequest("Invalid alg header parameter");
    }
    String id = header.getKeyID() == null ? TokenKeys.DEFAULT_ID : header.getKeyID();
    Key key = keys.find(family, id).orElseThrow(() -> LectusException.unauthorized("Unknown kid"));
    if (!isSigned(token, family, key)) {
      String what = family.equals("hmac") ? "HMAC" : "signature";
      throw LectusException.unauthorized("Bad " + what + " in authentication token");
    }
  }

  private static boolean isSigned(JWSObject token, String family, Key key) {
    try {
      return family.equals(ED_FAMILY)
          ? isSignedWithEd(token, (PublicKey) key)
          : token.verify(verifier(family, key));
    } catch (JOSEException | GeneralSecurityException unfit) {
      return false;
    }
  }

  private static JWSVerifier verifier(String family, Key key) throws JOSEException {
    return switch (family) {
      case "hmac" -> new MACVerifier((SecretKey) key);
      case "rsa" -> new RSASSAVerifier((RSAPublicKey) key);
      default -> new ECDSAVerifier((ECPublicKey) key);
    };
  }

  private static boolean isSignedWithEd(JWSObject token, PublicKey key)
      throws GeneralSecurityException {
    if (token.getHeader().getCriticalParams() != null) {
      return false; // RFC 7515, section 4.1.11: whoever does not know them refuses the token
    }
    Signature signature = Signature.getInstance("Ed25519");
    signature.initVerify(key);
    signature.update(token.getSigningInput());
    return signature.verify(token.getSignature().decode());
  }
}
