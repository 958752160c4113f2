package lectus.http;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.RSAKey;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.spec.SecretKeySpec;
import lectus.http.HttpSettings.MalformedKeysException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of a file, by their family and {@code kid}. The file has a JWK set (RFC 7517), or lines
 * as in CouchDB's section {@code [jwt_keys]}:
 *
 * <pre>
 * hmac:_default = the secret in base64
 * rsa:office    = -----BEGIN PUBLIC KEY-----\nMIIB…\n-----END PUBLIC KEY-----
 * ec:phone      = the same; ed:phone for Ed25519
 * </pre>
 *
 * Lines that are empty or begin with {@code #}, {@code ;} or {@code [} mean nothing.
 */
final class TokenKeys {
  /** The {@code kid} of the key for tokens that name none. */
  static final String DEFAULT_ID = "_default";

  static final TokenKeys NONE = new TokenKeys(Map.of());

  /** A shorter one can be guessed from a token (RFC 7518, section 3.2). */
  private static final int MIN_SECRET_BYTES = 32;

  private static final String COMMENTS = "#;[";

  private static final String SECRET_FAMILY = "hmac";
  private static final String ED_FAMILY = "ed";

  /** An Ed25519 key in X.509 is its 32 bytes behind these (RFC 8410). */
  private static final byte[] ED25519_HEAD = HexFormat.of().parseHex("302a300506032b6570032100");

  /** CouchDB's families, and the one that it does not have, with the names that the JDK uses. */
  private static final Map<String, String> ALGORITHM_OF_FAMILY =
      Map.of("rsa", "RSA", "ec", "EC", ED_FAMILY, "Ed25519");

  private static final Logger LOG = LoggerFactory.getLogger(TokenKeys.class);

  private final Map<Name, Key> keys;
  private final Set<String> complaints = ConcurrentHashMap.newKeySet();

  private TokenKeys(Map<Name, Key> keys) {
    this.keys = Map.copyOf(keys);
  }

  private record Name(String family, String id) {}

  /** Returns the key for a token; empty if there is none. */
  Optional<Key> find(String family, String id) {
    return Optional.ofNullable(keys.get(new Name(family, id)));
  }

  /** Says in the log, once while the file is as it is, why its keys do not fit tokens. */
  void complainOnce(String reason) {
    if (complaints.add(reason)) {
      LOG.warn("A token was refused: {}.", reason);
    }
  }

  /**
   * @throws MalformedKeysException the file has something else than keys
   */
  static TokenKeys read(Path file) throws IOException, MalformedKeysException {
    try {
      return parse(Files.readString(file));
    } catch (CharacterCodingException e) {
      throw new MalformedKeysException("it is not UTF-8", e);
    }
  }

  /**
   * @throws MalformedKeysException the text says something else than keys
   */
  private static TokenKeys parse(String text) throws MalformedKeysException {
    Map<Name, Key> keys = new HashMap<>();
    if (text.stripLeading().startsWith("{")) {
      addSet(text, keys);
    } else {
      int number = 0;
      for (String line : text.lines().toList()) {
        number++;
        addLine(line.strip(), number, keys);
      }
    }
    return new TokenKeys(keys);
  }

  private static void addSet(String text, Map<Name, Key> keys) throws MalformedKeysException {
    try {
      for (JWK key : JWKSet.parse(text).getKeys()) {
        add(key, keys);
      }
    } catch (ParseException
        | JOSEException
        | GeneralSecurityException
        | RuntimeException malformed) {
      throw new MalformedKeysException("it is not a JWK set of good keys", malformed);
    }
  }

  private static void add(JWK key, Map<Name, Key> keys)
      throws JOSEException, GeneralSecurityException {
    String id = key.getKeyID() == null ? DEFAULT_ID : key.getKeyID();
    if (key instanceof OctetSequenceKey secret) {
      keys.put(new Name(SECRET_FAMILY, id), secret(secret.toByteArray()));
    } else if (key instanceof RSAKey rsa) {
      keys.put(new Name("rsa", id), rsa.toRSAPublicKey());
    } else if (key instanceof ECKey ec) {
      keys.put(new Name("ec", id), ec.toECPublicKey());
    } else if (key instanceof OctetKeyPair ed && ed.getCurve().equals(Curve.Ed25519)) {
      keys.put(new Name(ED_FAMILY, id), ed25519(ed.getDecodedX()));
    }
  }

  private static Key ed25519(byte[] point) throws GeneralSecurityException {
    byte[] encoded = new byte[ED25519_HEAD.length + point.length];
    System.arraycopy(ED25519_HEAD, 0, encoded, 0, ED25519_HEAD.length);
    System.arraycopy(point, 0, encoded, ED25519_HEAD.length, point.length);
    return publicKey(ED_FAMILY, encoded);
  }

  private static void addLine(String line, int number, Map<Name, Key> keys)
      throws MalformedKeysException {
    if (line.isEmpty() || COMMENTS.indexOf(line.charAt(0)) >= 0) {
      return;
    }
    int colon = line.indexOf(':');
    int equals = line.indexOf(" = ", colon + 1);
    if (colon < 0 || equals < 0) {
      throw new MalformedKeysException("line " + number + " is not of the form family:kid = key");
    }
    String family = line.substring(0, colon);
    String id = line.substring(colon + 1, equals).strip();
    try {
      keys.put(new Name(family, id), key(family, line.substring(equals + 3).strip()));
    } catch (GeneralSecurityException | IllegalArgumentException notKey) {
      throw new MalformedKeysException(
          "line " + number + " has no good key of the family " + family + ": " + wanted(family),
          notKey);
    }
  }

  private static String wanted(String family) {
    if (family.equals(SECRET_FAMILY)) {
      return "it is at least " + MIN_SECRET_BYTES + " bytes in base64";
    }
    return ALGORITHM_OF_FAMILY.containsKey(family)
        ? "it is a public key in PEM form, on one line"
        : "there are hmac, rsa, ec and ed";
  }

  private static Key key(String family, String text) throws GeneralSecurityException {
    if (family.equals(SECRET_FAMILY)) {
      return secret(Base64.getDecoder().decode(text));
    }
    String base64 =
        text.replace("\\n", "").replaceAll("-----(BEGIN|END) PUBLIC KEY-----", "").strip();
    return publicKey(family, Base64.getMimeDecoder().decode(base64));
  }

  private static Key secret(byte[] bytes) throws GeneralSecurityException {
    if (bytes.length < MIN_SECRET_BYTES) {
      throw new GeneralSecurityException("The secret is too short");
    }
    return new SecretKeySpec(bytes, "HmacSHA256");
  }

  private static Key publicKey(String family, byte[] encoded) throws GeneralSecurityException {
    String algorithm = ALGORITHM_OF_FAMILY.get(family);
    if (algorithm == null) {
      throw new GeneralSecurityException("unknown family");
    }
    return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(encoded));
  }
}
