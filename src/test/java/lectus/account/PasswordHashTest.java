package lectus.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.account.PasswordHash.Pbkdf2Hash;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Hashes as CouchDB stores them. The expected keys are those of another implementation. */
class PasswordHashTest {
  private static final String KEY =
      "4c0e3d6127428286fb6b201c1ab93acd6f4c31cb34565e429a16fc69de9ed19d";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          -pbkdf2-758ee64199c592dfac4344089504dc02dd04472a,salt,10
          -pbkdf2:sha-758ee64199c592dfac4344089504dc02dd04472a,salt,10
          -pbkdf2:sha224-bc898f498d11dc0b70dea20b9330c929f4864e17d2914fd192442259,salt,10
          -pbkdf2:sha256-4c0e3d6127428286fb6b201c1ab93acd6f4c31cb34565e429a16fc69de9ed19d,salt,10
          -pbkdf2:sha384-6ba718848247da78e8ea8055a3d7de437fb15b532945a73aec88160cdd3280398e5c390b3238c24207499e95409af6d5,salt,10
          -pbkdf2:sha512-122eee362c7d57932b37a681cdf06a7260f90a9397eb42b7f12511d8b22a81cb66543be4765cbd83759d71f9249f4e985e76b2e49344c8fd49ae055b4abb33ea,salt,10
          -hashed-e21216acd080d1077e4f9894c0945eb4b023202c,salt
          """)
  void an_admin_of_couchdb_logs_in(String stored) {
    PasswordHash hash = PasswordHash.of(stored).orElseThrow();
    assertThat(hash.matches("apple")).isTrue();
    assertThat(hash.matches("Apple")).isFalse();
    assertThat(hash.matches("")).isFalse();
    assertThat(hash.salt()).isEqualTo("salt");
    assertThat(PasswordHash.of(hash.text())).contains(hash);
  }

  @Test
  void passwords_and_salts_are_utf_8() {
    String key = "ad8f3878889020b374d53c841ccc6e0dc148c6ebc0ecc9a8ab75965b6462d2b7";
    assertThat(hash("-pbkdf2:sha256-" + key + ",sälz,10").matches("äpfel€")).isTrue();
  }

  @Test
  void an_empty_password_is_one() {
    String key = "4c9d748ae0f9043b42a414cc80500da37a3ed69977ca443c31516f585f6449c5";
    assertThat(hash("-pbkdf2:sha256-" + key + ",salt,10").matches("")).isTrue();
    assertThat(hash("-pbkdf2:sha256-" + key + ",salt,10").matches("apple")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'password_scheme':'pbkdf2','pbkdf2_prf':'sha256','iterations':10,'salt':'salt','derived_key':'4c0e3d6127428286fb6b201c1ab93acd6f4c31cb34565e429a16fc69de9ed19d'}
          {'password_scheme':'pbkdf2','iterations':10,'salt':'salt','derived_key':'758ee64199c592dfac4344089504dc02dd04472a'}
          {'password_scheme':'simple','salt':'salt','password_sha':'e21216acd080d1077e4f9894c0945eb4b023202c'}
          {'salt':'salt','password_sha':'e21216acd080d1077e4f9894c0945eb4b023202c'}
          """)
  void a_user_of_couchdb_logs_in(String document) {
    PasswordHash hash = PasswordHash.of(object(document)).orElseThrow();
    assertThat(hash.matches("apple")).isTrue();
    assertThat(hash.matches("pear")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'password':'apple'}",
        "{'password_scheme':'pbkdf2'}",
        "{'password_scheme':'pbkdf2','iterations':10,'salt':'','derived_key':'KEY'}",
        "{'password_scheme':'pbkdf2','iterations':0,'salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'pbkdf2','iterations':-1,'salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'pbkdf2','iterations':1.5,'salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'pbkdf2','iterations':'10','salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'pbkdf2','iterations':2000001,'salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'pbkdf2','iterations':99999999999,'salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'pbkdf2','iterations':10,'salt':'s','derived_key':'4c'}",
        "{'password_scheme':'pbkdf2','pbkdf2_prf':'md5','iterations':10,'salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'scrypt','salt':'s','derived_key':'KEY'}",
        "{'password_scheme':'simple','salt':1,'password_sha':'KEY'}"
      })
  void nobody_logs_in_with_what_cannot_be_used(String document) {
    String whole =
        document.replace(
            "'derived_key':'KEY'", "'pbkdf2_prf':'sha256','derived_key':'" + KEY + "'");
    assertThat(PasswordHash.of(object(document.contains("md5") ? document : whole))).isEmpty();
  }

  @Test
  void salts_have_a_limit() {
    String longest = "s".repeat(PasswordHash.LONGEST_SALT);
    assertThat(PasswordHash.of("-pbkdf2:sha256-" + KEY + "," + longest + ",10")).isPresent();
    assertThat(PasswordHash.of("-pbkdf2:sha256-" + KEY + "," + longest + "s,10")).isEmpty();
    String sha = "e21216acd080d1077e4f9894c0945eb4b023202c";
    assertThat(PasswordHash.of("-hashed-" + sha + "," + longest)).isPresent();
    assertThat(PasswordHash.of("-hashed-" + sha + "," + longest + "s")).isEmpty();
    assertThat(PasswordHash.of("-hashed-" + sha + "0,salt")).isEmpty();
  }

  @Test
  void the_most_iterations_are_allowed() {
    String stored = "-pbkdf2:sha256-" + KEY + ",salt," + AccountSettings.MAX_ITERATIONS;
    assertThat(PasswordHash.of(stored)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-pbkdf2-",
        "-pbkdf2:sha256-ab,salt,10",
        "-pbkdf2:sha1-ab,salt",
        "-hashed-ab",
        "-hashed-a,b,c"
      })
  void a_damaged_hash_is_none_and_no_password_either(String stored) {
    assertThat(PasswordHash.isClaimedBy(stored)).isTrue();
    assertThat(PasswordHash.of(stored)).isEmpty();
  }

  @Test
  void a_new_hash_is_of_the_current_scheme_and_has_a_salt_of_its_own() {
    Pbkdf2Hash one = Pbkdf2Hash.of("apple", 10);
    Pbkdf2Hash other = Pbkdf2Hash.of("apple", 10);
    assertThat(one.text()).matches("-pbkdf2:sha256-[0-9a-f]{64},[0-9a-f]{32},10");
    assertThat(one.salt()).isNotEqualTo(other.salt());
    assertThat(one.matches("apple")).isTrue();
    assertThat(one.isCurrent(10)).isTrue();
    assertThat(one.isCurrent(11)).isFalse();
    assertThat(Pbkdf2Hash.ofNobody(10).matches("apple")).isFalse();
  }

  private static PasswordHash hash(String stored) {
    Optional<PasswordHash> hash = PasswordHash.of(stored);
    return hash.orElseThrow();
  }

  private static JsonObject object(String json) {
    return (JsonObject) JsonValue.parse(TestAccounts.utf8(json));
  }

  /** Whose passwords are hashed first. */
  @Timeout(60)
  @Nested
  final class HashingTest {
    private final Hashing hashing = new Hashing();

    @AfterEach
    void close() {
      hashing.close();
    }

    private static Supplier<Void> blocking(CountDownLatch begun, CountDownLatch until) {
      return () -> {
        begun.countDown();
        try {
          assertThat(until.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
        return null;
      };
    }

    @Test
    void what_nobody_waits_for_comes_after_imports_and_is_in_no_ones_way() throws Exception {
      int threads = Hashing.IMPORTS_AT_ONCE;
      CountDownLatch atWork = new CountDownLatch(threads);
      CountDownLatch goOn = new CountDownLatch(1);
      for (int i = 0; i < threads; i++) {
        hashing.begin(Hashing.Turn.IMPORT, "a", blocking(atWork, goOn));
      }
      assertThat(atWork.await(60, TimeUnit.SECONDS)).isTrue();
      List<CompletableFuture<Void>> last = new ArrayList<>();
      for (int i = 0; i < Hashing.MAX_WAITING; i++) {
        last.add(hashing.begin(Hashing.Turn.LAST, "anna" + i, () -> null));
      }
      assertThat(last).noneMatch(CompletableFuture::isDone);
      assertThat(hashing.begin(Hashing.Turn.LAST, "one too many", () -> null))
          .isCompletedExceptionally();

      CountDownLatch imports = new CountDownLatch(threads);
      CountDownLatch end = new CountDownLatch(1);
      for (int i = 0; i < threads; i++) {
        hashing.begin(Hashing.Turn.IMPORT, "b", blocking(imports, end));
      }
      assertThat(hashing.begin(Hashing.Turn.GUEST, "known", () -> 1).get(60, TimeUnit.SECONDS))
          .isEqualTo(1);
      goOn.countDown();
      assertThat(imports.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(last).noneMatch(CompletableFuture::isDone);
      end.countDown();
      for (CompletableFuture<Void> each : last) {
        assertThat(each.get(60, TimeUnit.SECONDS)).isNull();
      }
    }
  }
}
