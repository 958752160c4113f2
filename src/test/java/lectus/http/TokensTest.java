package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.RSAKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.config.AccessKeys;
import lectus.database.UserContext;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.HttpSettings.TokenSettings;
import lectus.http.Tokens.TokenKeysFile;
import lectus.http.testing.Answer;
import lectus.http.testing.Bearer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose a token is, which tokens are nobody's, and tokens as clients send them. */
final class TokensTest {
  private static final Base64.Encoder BASE_64 = Base64.getUrlEncoder().withoutPadding();

  /** Whose a token is, and which tokens are nobody's. */
  @Nested
  class Checked {
    private static final Instant NOW = Instant.ofEpochSecond(1_000_000);
    private static final String JAN = "{\"sub\":\"jan\",\"exp\":1000001}";

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

    private static String signed(String algorithm, PrivateKey key, String jdkName)
        throws Exception {
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
          .isEqualTo(
              new LectusError.Unauthorized("A key of the curve P-256 signs no " + algorithm));
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

  /** Tokens as clients send them, and their keys as an administrator replaces them meanwhile. */
  @Nested
  class OverHttp {
    private static final Map<String, KeyPair> PAIRS = new HashMap<>();

    @RegisterExtension static final TestStores stores = new TestStores();

    private static final byte[] OTHER = "f".repeat(64).getBytes(StandardCharsets.UTF_8);
    private static final String HS256 = "{\"alg\":\"HS256\"}";

    @TempDir Path folder;

    @AutoClose private final LogLines log = LogLines.of(TokenKeysFile.class);
    private Path file;
    private LectusServer server;

    @BeforeEach
    void start() throws IOException {
      file = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
      Store store = stores.fresh();
      Member.makeAdmin(store, "root");
      server =
          LectusServer.start(
              store,
              new TestSettings()
                  .with(AccessKeys.JWT_KEYS, file)
                  .with(AccessKeys.JWT_ROLES_CLAIM, "my.roles"));
      Member root = new Member(server, "root");
      root.request("PUT", "/team").send();
      root.make("/team/_security", "{\"members\":{\"roles\":[\"team\"]}}");
    }

    @AfterEach
    void stop() {
      server.close();
    }

    private static long now() {
      return Instant.now().getEpochSecond();
    }

    private static String claims(String more) {
      return "{\"sub\":\"jan\",\"exp\":" + (now() + 600) + more + "}";
    }

    private static String hs(String header, byte[] secret) {
      return Bearer.hs("HS256", header, claims(""), secret);
    }

    private Answer session(String token) {
      return server.request("GET", "/_session", "Authorization", "Bearer " + token).send();
    }

    private void assertIsJan(String token) {
      assertThat(session(token).body()).contains("\"name\":\"jan\"", "\"authenticated\":\"jwt\"");
    }

    private void assertRefused(String token, String reason) {
      Answer answer = session(token).expect(401);
      assertThat(answer.member("reason")).isEqualTo(reason);
    }

    private static String secretLine(String id, byte[] secret) {
      return "hmac:" + id + " = " + Base64.getEncoder().encodeToString(secret) + "\n";
    }

    /** Replaces the file at once, as careful administrators do. */
    private void replace(String text) throws IOException {
      Path next = Files.writeString(folder.resolve("next"), text);
      Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    }

    private List<String> complaints() {
      return log.messages();
    }

    @Test
    void what_a_token_must_claim_can_be_changed_while_the_server_runs() {
      String plain = hs(HS256, Bearer.SECRET);
      String ours = Bearer.hs("HS256", HS256, claims(",\"iss\":\"us\""), Bearer.SECRET);
      assertIsJan(plain);
      Member root = new Member(server, "root");
      String claims = "/_node/_local/_config/jwt_auth/required_claims";
      // As CouchDB's documentation writes it.
      root.request("PUT", claims).json("\"exp, {iss, \\\"us\\\"}\"").send().expect(200);
      session(plain).expect(401);
      assertIsJan(ours);
      Answer refused =
          root.request("PUT", claims).json("\"exp, {iss, \\\"us,them\\\"}\"").send().expect(400);
      assertThat(refused.member("reason")).contains("claims such as exp or iss=name");
      assertIsJan(ours);
      root.request("DELETE", claims).send().expect(200);
      assertIsJan(plain);
    }

    @Test
    void a_key_that_is_added_while_the_server_runs_is_taken_and_one_that_is_removed_refused()
        throws Exception {
      String known = hs(HS256, Bearer.SECRET);
      String fresh = hs("{\"alg\":\"HS256\",\"kid\":\"new\"}", OTHER);
      assertIsJan(known);
      assertRefused(fresh, "Unknown kid");

      replace(Bearer.KEYS + secretLine("new", OTHER));
      Await.until("the new key is taken", () -> session(fresh).status() == 200);
      assertIsJan(fresh);
      assertIsJan(known);

      replace(secretLine("new", OTHER));
      Await.until("the old key is refused", () -> session(known).status() == 401);
      assertRefused(known, "Unknown kid");
      assertIsJan(fresh);

      replace(secretLine("new", Bearer.SECRET));
      Await.until("the key's former secret is refused", () -> session(fresh).status() == 401);
      assertRefused(fresh, "Bad HMAC in authentication token");
      assertThat(complaints()).isEmpty();
    }

    @Test
    void a_file_without_sense_takes_no_key_away_and_is_complained_of_once() throws Exception {
      String token = hs(HS256, Bearer.SECRET);
      assertIsJan(token);

      replace("no keys at all\n");
      Await.until("the file is found wrong", () -> looked(token));
      afterAnotherLook(token);
      assertIsJan(token);

      assertThat(complaints()).singleElement().asString().contains("are not taken", "are kept");
      assertThat(complaints()).noneMatch(line -> line.contains("no keys at all"));
    }

    @Test
    void a_file_that_is_gone_takes_no_key_away_and_is_complained_of_once() throws Exception {
      String token = hs(HS256, Bearer.SECRET);
      assertIsJan(token);

      Files.delete(file);
      Await.until("the file is missed", () -> looked(token));
      afterAnotherLook(token);
      assertIsJan(token);
      assertThat(complaints()).singleElement().asString().contains("cannot be read", "are kept");

      replace(secretLine("_default", OTHER));
      Await.until("the file is read again", () -> session(token).status() == 401);
      assertIsJan(hs(HS256, OTHER));
    }

    private boolean looked(String token) {
      assertIsJan(token);
      return !log.events().isEmpty();
    }

    /** Lets the server look twice more: it does so once a second while tokens come. */
    private void afterAnotherLook(String token) {
      long end = System.nanoTime() + 2_200_000_000L;
      Await.until(
          "time for two more looks",
          () -> {
            assertIsJan(token);
            return System.nanoTime() - end > 0;
          });
    }

    /** Returns the first or the second of a kind: to make one of RSA takes a second. */
    private static KeyPair pair(String algorithm, String curve, int number)
        throws GeneralSecurityException {
      String name = algorithm + curve + number;
      if (!PAIRS.containsKey(name)) {
        PAIRS.put(name, made(algorithm, curve));
      }
      return PAIRS.get(name);
    }

    private static KeyPair made(String algorithm, String curve) throws GeneralSecurityException {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
      if (algorithm.equals("EC")) {
        generator.initialize(new ECGenParameterSpec(curve));
      }
      return generator.generateKeyPair();
    }

    private static String publicLine(String name, KeyPair pair) {
      return name
          + " = -----BEGIN PUBLIC KEY-----\\n"
          + Base64.getEncoder().encodeToString(pair.getPublic().getEncoded())
          + "\\n-----END PUBLIC KEY-----\\n\n";
    }

    private static String signed(String header, String claims, KeyPair pair, String jdkName)
        throws GeneralSecurityException {
      String text = Bearer.part(header) + '.' + Bearer.part(claims);
      Signature signature = Signature.getInstance(jdkName);
      signature.initSign(pair.getPrivate());
      signature.update(text.getBytes(StandardCharsets.UTF_8));
      return text + '.' + BASE_64.encodeToString(signature.sign());
    }

    @ParameterizedTest
    @CsvSource({
      "rsa, RSA, '', RS256, SHA256withRSA",
      "rsa, RSA, '', RS384, SHA384withRSA",
      "rsa, RSA, '', RS512, SHA512withRSA",
      "ec, EC, secp256r1, ES256, SHA256withECDSAinP1363Format",
      "ec, EC, secp384r1, ES384, SHA384withECDSAinP1363Format",
      "ec, EC, secp521r1, ES512, SHA512withECDSAinP1363Format",
      "ed, Ed25519, '', EdDSA, Ed25519"
    })
    void a_signature_of_each_algorithm_logs_in_and_anothers_does_not(
        String family, String kind, String curve, String algorithm, String jdkName)
        throws Exception {
      KeyPair right = pair(kind, curve, 1);
      String header = "{\"alg\":\"" + algorithm + "\",\"typ\":\"JWT\",\"kid\":\"office\"}";
      String token = signed(header, claims(""), right, jdkName);
      replace(publicLine(family + ":office", right));
      Await.until("the key is taken", () -> session(token).status() == 200);

      assertIsJan(token);
      assertRefused(
          signed(header, claims(""), pair(kind, curve, 2), jdkName),
          "Bad signature in authentication token");
      assertRefused(
          signed(header.replace("office", "home"), claims(""), right, jdkName), "Unknown kid");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HS256", "HS384", "HS512"})
    void a_secret_does_for_each_hash(String algorithm) {
      String header = "{\"alg\":\"" + algorithm + "\"}";
      assertIsJan(Bearer.hs(algorithm, header, claims(""), Bearer.SECRET));
    }

    @Test
    void a_token_of_another_algorithm_than_its_keys_is_refused() throws Exception {
      KeyPair rsa = pair("RSA", "", 1);
      replace(publicLine("rsa:_default", rsa));
      String good = signed("{\"alg\":\"RS256\"}", claims(""), rsa, "SHA256withRSA");
      Await.until("the key is taken", () -> session(good).status() == 200);

      assertRefused(hs(HS256, rsa.getPublic().getEncoded()), "Unknown kid");
      assertRefused(
          signed("{\"alg\":\"RS512\"}", claims(""), rsa, "SHA256withRSA"),
          "Bad signature in authentication token");
      assertRefused(signed("{\"alg\":\"ES256\"}", claims(""), rsa, "SHA256withRSA"), "Unknown kid");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "None", "NONE", "nOnE", "PS256", "HS1"})
    void an_unsigned_token_is_nobodys(String algorithm) {
      String head = Bearer.part("{\"alg\":\"" + algorithm + "\"}") + '.' + Bearer.part(claims(""));
      for (String token :
          List.of(head + '.', head, hs("{\"alg\":\"" + algorithm + "\"}", Bearer.SECRET))) {
        Answer answer = session(token);
        assertThat(answer.status()).as(token).isEqualTo(400);
        assertThat(answer.member("error")).isEqualTo("bad_request");
      }
    }

    @Test
    void a_token_is_good_from_nbf_until_exp() {
      long now = now();
      assertIsJan(
          Bearer.hs256("{\"sub\":\"jan\",\"nbf\":" + (now - 60) + ",\"exp\":" + (now + 600) + "}"));
      assertRefused(
          Bearer.hs256("{\"sub\":\"jan\",\"exp\":" + (now - 1) + "}"), "exp not in future");
      assertRefused(
          Bearer.hs256("{\"sub\":\"jan\",\"nbf\":" + (now + 300) + ",\"exp\":" + (now + 600) + "}"),
          "nbf not in past");
      assertRefused(Bearer.hs256("{\"sub\":\"jan\"}"), "Missing exp claim");
    }

    @Test
    void a_token_that_was_good_is_refused_once_it_has_expired() {
      String brief = Bearer.hs256("{\"sub\":\"jan\",\"exp\":" + (now() + 2) + "}");
      assertIsJan(brief);
      Await.until("the token has expired", () -> session(brief).status() == 401);
      assertRefused(brief, "exp not in future");
    }

    @Test
    void roles_come_from_the_configured_claim_and_open_databases() {
      String member = Bearer.hs256(claims(",\"my\":{\"roles\":[\"team\"]}"));
      String stranger = Bearer.hs256(claims(",\"_couchdb.roles\":[\"team\"]"));
      assertThat(session(member).body()).contains("\"roles\":[\"team\"]");
      assertThat(session(stranger).body()).contains("\"roles\":[]");
      assertThat(statusOf("/team", member)).isEqualTo(200);
      assertThat(statusOf("/team", stranger)).isEqualTo(403);
    }

    private int statusOf(String path, String token) {
      return server.request("GET", path, "Authorization", "Bearer " + token).send().status();
    }

    @Test
    void a_wrong_token_is_refused_whatever_is_asked_for_and_stands_in_no_answer() {
      String wrong = hs(HS256, OTHER);
      Stream.of("/", "/_up", "/_session", "/team", "/team/x", "/missing")
          .forEach(
              path -> {
                Answer answer =
                    server.request("GET", path, "Authorization", "Bearer " + wrong).send();
                assertThat(answer.status()).as(path).isEqualTo(401);
                assertThat(answer.toString()).doesNotContain(wrong);
              });
    }
  }
}
