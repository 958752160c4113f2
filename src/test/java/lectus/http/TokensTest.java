package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.RSAKey;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.UserContext;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.HttpSettings.TokenSettings;
import lectus.http.testing.Bearer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose a token is, and which tokens are nobody's. */
final class TokensTest {
  private static final Instant NOW = Instant.ofEpochSecond(1_000_000);
  private static final String JAN = "{\"sub\":\"jan\",\"exp\":1000001}";

  private static final Base64.Encoder BASE_64 = Base64.getUrlEncoder().withoutPadding();

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void write() throws Exception {
    file = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
  }

  private Tokens tokens() {
    return tokens("_couchdb.roles", Map.of("exp", Optional.empty()), NOW);
  }

  private Tokens tokens(String rolesClaim, Map<String, Optional<String>> required, Instant now) {
    TokenSettings settings = new TokenSettings(Optional.of(file), rolesClaim, required);
    return new Tokens(() -> settings, InstantSource.fixed(now));
  }

  private static LectusError refused(Tokens tokens, String token) {
    LectusException refusal =
        catchThrowableOfType(LectusException.class, () -> tokens.verify(token));
    assertThat(refusal).as(token).isNotNull();
    return refusal.error();
  }

  @Test
  void a_token_names_its_user() {
    assertThat(tokens().verify(Bearer.hs256(JAN)).user())
        .isEqualTo(UserContext.named("jan", java.util.Set.of()));
  }

  @ParameterizedTest
  @CsvSource({"HS256,32", "HS384,32", "HS384,47", "HS512,32", "HS512,63", "HS512,200"})
  void every_hash_of_a_secret_will_do(String algorithm, int length) throws Exception {
    byte[] secret = "s".repeat(length).getBytes(StandardCharsets.UTF_8);
    Files.writeString(file, "hmac:_default = " + Base64.getEncoder().encodeToString(secret));
    String header = "{\"typ\":\"JWT\",\"alg\":\"" + algorithm + "\"}";

    String token = Bearer.hs(algorithm, header, JAN, secret);

    assertThat(tokens().verify(token).user().name()).contains("jan");
    assertThat(refused(tokens(), Bearer.hs(algorithm, header, JAN, Bearer.SECRET)))
        .isEqualTo(new LectusError.Unauthorized("Bad HMAC in authentication token"));
  }

  @Test
  void a_key_is_found_by_its_kid() throws Exception {
    byte[] other = "f".repeat(32).getBytes(StandardCharsets.UTF_8);
    Files.writeString(
        file,
        "# keys\n[jwt_keys]\n\nhmac:b= = " + Base64.getEncoder().encodeToString(other) + "\n");
    String header = "{\"alg\":\"HS256\",\"kid\":\"b=\"}";

    assertThat(tokens().verify(Bearer.hs("HS256", header, JAN, other)).user().name())
        .contains("jan");
    assertThat(refused(tokens(), Bearer.hs256(JAN)))
        .isEqualTo(new LectusError.Unauthorized("Unknown kid"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"sub":"jan","exp":1000000}               | exp not in future
          {"sub":"jan","exp":999999.5}              | exp not in future
          {"sub":"jan"}                             | Missing exp claim
          {"sub":"jan","exp":1000001,"nbf":1000001} | nbf not in past
          {"exp":1000001}                           | Token missing sub claim.
          {"sub":"","exp":1000001}                  | Token missing sub claim.
          {"sub":5,"exp":1000001}                   | Token missing sub claim.
          """)
  void what_is_claimed_has_to_be_good_now(String claims, String reason) {
    assertThat(refused(tokens(), Bearer.hs256(claims)))
        .isEqualTo(new LectusError.Unauthorized(reason));
  }

  @Test
  void a_token_that_begins_now_is_good() {
    String claims = "{\"sub\":\"jan\",\"exp\":1000001,\"nbf\":1000000}";

    assertThat(tokens().verify(Bearer.hs256(claims)).user().name()).contains("jan");
  }

  @Test
  void claims_can_be_required_with_their_value() {
    Tokens tokens = tokens("r", Map.of("iss", Optional.of("us")), NOW);

    assertThat(tokens.verify(Bearer.hs256("{\"sub\":\"jan\",\"iss\":\"us\"}")).user().name())
        .contains("jan");
    assertThat(refused(tokens, Bearer.hs256("{\"sub\":\"jan\",\"iss\":\"them\"}")))
        .isEqualTo(new LectusError.Unauthorized("Invalid iss claim"));
    assertThat(refused(tokens, Bearer.hs256("{\"sub\":\"jan\"}")))
        .isEqualTo(new LectusError.Unauthorized("Missing iss claim"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          _couchdb.roles      | "_couchdb.roles":["a","b"]          | a,b
          _couchdb.roles      | "_couchdb.roles":"a, b"             | a,b
          _couchdb.roles      | "_couchdb.roles":""                 |
          _couchdb.roles      | "other":["a"]                       |
          my.nested.x\\.y     | "my":{"nested":{"x.y":["a"]}}       | a
          my.nested           | "my":"text"                         |
          """)
  void roles_come_from_a_claim(String path, String claim, String roles) {
    String token = Bearer.hs256("{\"sub\":\"jan\",\"exp\":1000001," + claim + "}");

    UserContext user = tokens(path, Map.of(), NOW).verify(token).user();

    assertThat(user.roles())
        .containsExactlyInAnyOrder(roles == null ? new String[0] : roles.split(","));
  }

  @ParameterizedTest
  @ValueSource(strings = {"5", "[5]", "{}", "[[\"a\"]]", "true"})
  void roles_are_strings(String roles) {
    String token =
        Bearer.hs256("{\"sub\":\"jan\",\"exp\":1000001,\"_couchdb.roles\":" + roles + "}");

    assertThat(refused(tokens(), token))
        .isEqualTo(new LectusError.BadRequest("bad_request", "Malformed token"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "x", "a.b", "a.b.c", "a.b.c.d", "..", "!.!.!", "e30.e30.", "bnVsbA.e30.x"})
  void what_is_no_token_is_400(String token) {
    assertThat(refused(tokens(), token))
        .isEqualTo(new LectusError.BadRequest("bad_request", "Malformed authentication token"));
  }

  @Test
  void a_deep_claim_is_no_token() {
    String deep = "[".repeat(4_000) + "]".repeat(4_000);

    assertThat(refused(tokens(), Bearer.hs256("{\"sub\":" + deep + "}")))
        .isEqualTo(new LectusError.BadRequest("bad_request", "Malformed authentication token"));
  }

  @Test
  void a_token_signed_by_another_is_nobodys() {
    byte[] other = "f".repeat(64).getBytes(StandardCharsets.UTF_8);
    String forged = Bearer.hs("HS256", "{\"alg\":\"HS256\"}", JAN, other);

    assertThat(refused(tokens(), forged))
        .isEqualTo(new LectusError.Unauthorized("Bad HMAC in authentication token"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "PS256", "ES256K", "HS1"})
  void no_other_algorithm_is_taken(String algorithm) {
    String token = Bearer.hs("HS256", "{\"alg\":\"" + algorithm + "\"}", JAN, Bearer.SECRET);

    assertThat(refused(tokens(), token)).isInstanceOf(LectusError.BadRequest.class);
  }

  @Test
  void a_public_key_is_no_secret() throws Exception {
    PublicKey key = pair("RSA").getPublic();
    Files.writeString(file, line("rsa:_default", key));
    String token = Bearer.hs("HS256", "{\"alg\":\"HS256\"}", JAN, key.getEncoded());

    assertThat(refused(tokens(), token)).isEqualTo(new LectusError.Unauthorized("Unknown kid"));
  }

  @Test
  void what_the_server_must_understand_it_does_not() {
    String header = "{\"alg\":\"HS256\",\"crit\":[\"x\"],\"x\":1}";

    assertThat(refused(tokens(), Bearer.hs("HS256", header, JAN, Bearer.SECRET)))
        .isInstanceOf(LectusError.Unauthorized.class);
  }

  private static KeyPair pair(String algorithm) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
    if (algorithm.equals("EC")) {
      generator.initialize(new ECGenParameterSpec("secp256r1"));
    } else if (algorithm.equals("RSA")) {
      generator.initialize(2_048);
    }
    return generator.generateKeyPair();
  }

  private static String line(String name, PublicKey key) {
    return name
        + " = -----BEGIN PUBLIC KEY-----\\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'})
            .encodeToString(key.getEncoded())
            .replace("\n", "\\n")
        + "\\n-----END PUBLIC KEY-----\\n\n";
  }

  private static String signed(String algorithm, PrivateKey key, String jdkName) throws Exception {
    String text = Bearer.part("{\"alg\":\"" + algorithm + "\"}") + '.' + Bearer.part(JAN);
    Signature signature = Signature.getInstance(jdkName);
    signature.initSign(key);
    signature.update(text.getBytes(StandardCharsets.UTF_8));
    return text + '.' + BASE_64.encodeToString(signature.sign());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ES384", "ES512"})
  void an_algorithm_of_curves_has_one_curve(String algorithm) throws Exception {
    KeyPair key = pair("EC");
    Files.writeString(file, line("ec:_default", key.getPublic()));
    String jdkName = "SHA" + algorithm.substring(2) + "withECDSAinP1363Format";

    assertThat(refused(tokens(), signed(algorithm, key.getPrivate(), jdkName)))
        .isEqualTo(new LectusError.Unauthorized("A key of the curve P-256 signs no " + algorithm));
  }

  @Test
  void the_keys_may_be_a_jwk_set() throws Exception {
    KeyPair rsa = pair("RSA");
    KeyPair ec = pair("EC");
    Files.writeString(
        file,
        new JWKSet(
                List.of(
                    new RSAKey.Builder((RSAPublicKey) rsa.getPublic()).build(),
                    new ECKey.Builder(Curve.P_256, (ECPublicKey) ec.getPublic()).build(),
                    new OctetSequenceKey.Builder(Bearer.SECRET).build()))
            .toString(false));

    Tokens tokens = tokens();

    assertThat(tokens.verify(Bearer.hs256(JAN)).user().name()).contains("jan");
    assertThat(tokens.verify(signed("RS256", rsa.getPrivate(), "SHA256withRSA")).user().name())
        .contains("jan");
    assertThat(
            tokens
                .verify(signed("ES256", ec.getPrivate(), "SHA256withECDSAinP1363Format"))
                .user()
                .name())
        .contains("jan");
  }

  @Test
  void a_good_token_is_remembered_until_it_expires() {
    Tokens tokens = tokens();
    String token = Bearer.hs256(JAN);
    assertThat(tokens.recall(token)).isEmpty();

    tokens.verify(token);

    assertThat(tokens.recall(token).flatMap(it -> it.user().name())).contains("jan");
    assertThat(tokens.recall(token + "x")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          x                          | line 1 is not of the form family:kid = key
          hmac:a=b                   | line 1 is not of the form family:kid = key
          dsa:a = b                  | line 1 has no good key of the family dsa: there are hmac, rsa, ec and ed
          hmac:a = !                 | line 1 has no good key of the family hmac: it is at least 32 bytes in base64
          hmac:a = aGVsbG8=          | line 1 has no good key of the family hmac: it is at least 32 bytes in base64
          rsa:a = aGVsbG8=           | line 1 has no good key of the family rsa: it is a public key in PEM form, on one line
          {}                         | it is not a JWK set of good keys
          {"keys"                    | it is not a JWK set of good keys
          {"keys":1}                 | it is not a JWK set of good keys
          {"keys":[1]}               | it is not a JWK set of good keys
          {"keys":[{}]}              | it is not a JWK set of good keys
          {"keys":[{"kty":"oct","k":"aGVsbG8"}]} | it is not a JWK set of good keys
          {"keys":[{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}]} | it is not a JWK set of good keys
          """)
  void a_file_without_sense_has_no_keys(String text, String why) throws Exception {
    Files.writeString(file, text);
    assertThat(refused(tokens(), Bearer.hs256(JAN)))
        .isEqualTo(new LectusError.Unauthorized("Unknown kid"));
    assertThatThrownBy(() -> TokenSettings.checkKeys(file)).hasMessage(why);
  }

  @Test
  void a_file_of_another_encoding_has_no_keys() throws Exception {
    Files.write(file, new byte[] {'#', (byte) 0xfc, '\n'});
    assertThatThrownBy(() -> TokenSettings.checkKeys(file)).hasMessage("it is not UTF-8");
    Files.write(file, new byte[0]);
    TokenSettings.checkKeys(file);
  }
}
