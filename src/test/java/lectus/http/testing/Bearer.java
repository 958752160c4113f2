package lectus.http.testing;

import static lectus.http.testing.SingleQuotes.json;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** JSON web tokens as somebody with a secret makes them. */
public final class Bearer {
  /** A secret of 64 bytes, long enough for every algorithm. */
  public static final byte[] SECRET = "0123456789abcdef".repeat(4).getBytes(StandardCharsets.UTF_8);

  /** The line that gives this secret to a server. */
  public static final String KEYS =
      "hmac:_default = " + Base64.getEncoder().encodeToString(SECRET) + "\n";

  private static final Base64.Encoder BASE_64 = Base64.getUrlEncoder().withoutPadding();
  private static final long FAR_AWAY = 4_000_000_000L;

  private Bearer() {}

  /** Returns the value of a header for a user, with roles between commas. */
  public static String of(String name, String roles) {
    return "Bearer "
        + hs256(
            json("{'sub':'%s','_couchdb.roles':'%s','exp':%s}").formatted(name, roles, FAR_AWAY));
  }

  /** Returns a token with these claims. */
  public static String hs256(String claims) {
    return hs("HS256", "{\"alg\":\"HS256\"}", claims, SECRET);
  }

  public static String hs(String algorithm, String header, String claims, byte[] secret) {
    try {
      String name = algorithm.replace("HS", "HmacSHA");
      Mac mac = Mac.getInstance(name);
      mac.init(new SecretKeySpec(secret, name));
      String text = part(header) + '.' + part(claims);
      byte[] signature = mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
      return text + '.' + BASE_64.encodeToString(signature);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  public static String part(String json) {
    return BASE_64.encodeToString(json.getBytes(StandardCharsets.UTF_8));
  }
}
