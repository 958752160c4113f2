package lectus.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import lectus.error.LectusException;

/**
 * Whose signature a token has. The family of the key follows from the token's algorithm, so a
 * public key is never taken for a secret.
 */
final class TokenSignature {
  /** The JDK verifies it; the library would need another one for that. */
  private static final String ED_FAMILY = "ed";

  private static final String SECRET_FAMILY = "hmac";

  private static final Map<JWSAlgorithm, String> FAMILIES =
      Map.ofEntries(
          Map.entry(JWSAlgorithm.HS256, SECRET_FAMILY),
          Map.entry(JWSAlgorithm.HS384, SECRET_FAMILY),
          Map.entry(JWSAlgorithm.HS512, SECRET_FAMILY),
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
    requireCurve(header.getAlgorithm(), key, keys);
    if (!isSigned(token, family, key)) {
      String what = family.equals(SECRET_FAMILY) ? "HMAC" : "signature";
      throw LectusException.unauthorized("Bad " + what + " in authentication token");
    }
  }

  /** Each algorithm of elliptic curves has one curve (RFC 7518, section 3.4). */
  private static void requireCurve(JWSAlgorithm algorithm, Key key, TokenKeys keys) {
    if (key instanceof ECPublicKey ec
        && !Curve.forJWSAlgorithm(algorithm).contains(Curve.forECParameterSpec(ec.getParams()))) {
      String reason =
          "A key of the curve "
              + Curve.forECParameterSpec(ec.getParams())
              + " signs no "
              + algorithm;
      keys.complainOnce(reason);
      throw LectusException.unauthorized(reason);
    }
  }

  private static boolean isSigned(JWSObject token, String family, Key key) {
    if (token.getHeader().getCriticalParams() != null) {
      return false; // RFC 7515, section 4.1.11: whoever does not know them refuses the token
    }
    try {
      return switch (family) {
        case SECRET_FAMILY -> isSignedWithSecret(token, (SecretKey) key);
        case ED_FAMILY -> isSignedWithEd(token, (PublicKey) key);
        case "rsa" -> token.verify(new RSASSAVerifier((RSAPublicKey) key));
        default -> token.verify(new ECDSAVerifier((ECPublicKey) key));
      };
    } catch (JOSEException | GeneralSecurityException unfit) {
      return false;
    }
  }

  /**
   * As CouchDB, it takes a secret for each hash. The library wants secrets as long as the hash (RFC
   * 7518, section 3.2).
   */
  private static boolean isSignedWithSecret(JWSObject token, SecretKey key)
      throws GeneralSecurityException {
    Mac mac = Mac.getInstance(token.getHeader().getAlgorithm().getName().replace("HS", "HmacSHA"));
    mac.init(key);
    return MessageDigest.isEqual(
        mac.doFinal(token.getSigningInput()), token.getSignature().decode());
  }

  private static boolean isSignedWithEd(JWSObject token, PublicKey key)
      throws GeneralSecurityException {
    Signature signature = Signature.getInstance("Ed25519");
    signature.initVerify(key);
    signature.update(token.getSigningInput());
    return signature.verify(token.getSignature().decode());
  }
}
