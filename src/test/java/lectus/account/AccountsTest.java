package lectus.account;

import static lectus.account.TestAccounts.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import lectus.account.Accounts.NamedAccount;
import lectus.account.AdminsSubspace.Admin;
import lectus.account.LoggingIn.ClientNetwork;
import lectus.account.LoggingIn.LogIn;
import lectus.account.LoggingIn.LogIn.Conflicted;
import lectus.account.LoggingIn.LogIn.Granted;
import lectus.account.LoggingIn.LogIn.LockedOut;
import lectus.account.LoggingIn.LogIn.Refused;
import lectus.account.LoggingIn.LoginThrottle;
import lectus.account.Passwords.VerifiedPasswords;
import lectus.account.Passwords.WrongPasswords;
import lectus.audit.testing.SoundStore;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.document.edit.ReplicatedEdit;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Log-in against the store, by two servers on one. Their clocks stand still unless moved. */
class AccountsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final Duration FRESH = Duration.ofNanos(KnownAccounts.MAX_NANOS);
  private static final Duration STALE = FRESH.plusNanos(1);

  private final Store store = stores.fresh();
  @AutoClose private final TestAccounts here = new TestAccounts(store);
  @AutoClose private final TestAccounts there = new TestAccounts(store);

  private static Optional<UserContext> granted(LogIn outcome) {
    return outcome instanceof Granted granted
        ? Optional.of(granted.account().user())
        : Optional.empty();
  }

  @Test
  void an_admin_logs_in_on_every_server() {
    assertThat(here.accounts.admins().put("root", "apple")).isEmpty();
    UserContext root = UserContext.named("root", Set.of("_admin"));
    assertThat(granted(here.logIn("root", "apple"))).contains(root);
    assertThat(granted(there.logIn("root", "apple"))).contains(root);
    assertThat(there.logIn("root", "pear")).isEqualTo(new Refused());
    assertThat(there.logIn("nobody", "apple")).isEqualTo(new Refused());
    assertThat(there.logIn("", "")).isEqualTo(new Refused());
  }

  @Test
  void everybody_is_an_admin_until_there_is_one() {
    here.accounts.start();
    assertThat(here.accounts.nobody()).isEqualTo(UserContext.ADMIN_PARTY);
    here.accounts.admins().put("root", "apple");
    assertThat(here.accounts.hasAdmin()).isTrue();
    assertThat(here.accounts.nobody()).isEqualTo(UserContext.ANONYMOUS);
    assertThat(here.accounts.admins().remove("root")).isPresent();
    assertThat(here.accounts.nobody()).isEqualTo(UserContext.ADMIN_PARTY);
    assertThat(here.accounts.admins().remove("root")).isEmpty();
  }

  @Test
  void a_server_that_strangers_reach_has_no_admin_by_default() {
    try (Accounts open =
        new Accounts(
            store,
            here.catalogue,
            here.documents,
            TestAccounts.PARSER,
            here.writer,
            () ->
                new AccountSettings(
                    10,
                    10,
                    lectus.database.SecurityObject.ADMIN_ONLY,
                    false,
                    false,
                    false,
                    false,
                    AccountSettings.Lockout.ENFORCE))) {
      assertThat(open.start().nobody()).isEqualTo(UserContext.ANONYMOUS);
    }
  }

  @Test
  void an_admin_is_seen_while_looking_up_accounts_is_stuck() throws Exception {
    CountDownLatch stuck = new CountDownLatch(2);
    CountDownLatch end = new CountDownLatch(1);
    here.withUsers().put("ann", user("ann", "apple"));
    try (TestAccounts slow = new TestAccounts(store)) {
      slow.accounts.start();
      assertThat(slow.logIn("ann", "apple")).isInstanceOf(Granted.class);
      slow.later(STALE);
      slow.whenAsked(
          () -> {
            if (Thread.currentThread().getName().equals("lectus-accounts")) {
              stuck.countDown();
              end.await();
            }
            return null;
          });
      List<CompletableFuture<LogIn>> waiting = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        waiting.add(slow.accounts.loggingIn().beginLogIn("ann", "apple", TestAccounts.ADDRESS));
      }
      stuck.await();

      assertThat(slow.accounts.hasAdmin()).isFalse();
      here.accounts.admins().put("root", "apple");
      Await.until("the other server knows that there is an admin", slow.accounts::hasAdmin);

      assertThat(waiting).noneMatch(CompletableFuture::isDone);
      end.countDown();
      waiting.forEach(it -> assertThat(it.join()).isInstanceOf(Granted.class));
    } finally {
      end.countDown();
    }
  }

  @Test
  void a_verified_password_is_recalled_without_the_store_for_half_a_second() {
    here.accounts.admins().put("root", "apple");
    assertThat(here.accounts.loggingIn().recall("root", "apple", TestAccounts.ADDRESS)).isEmpty();
    here.logIn("root", "apple");
    assertThat(
            here.accounts
                .loggingIn()
                .recall("root", "apple", TestAccounts.ADDRESS)
                .map(NamedAccount::user))
        .contains(UserContext.named("root", Set.of(UserContext.SERVER_ADMIN)));
    assertThat(here.accounts.loggingIn().recall("root", "pear", TestAccounts.ADDRESS)).isEmpty();
    assertThat(here.accounts.loggingIn().recall("roo", "tapple", TestAccounts.ADDRESS)).isEmpty();
    here.later(STALE);
    assertThat(here.accounts.loggingIn().recall("root", "apple", TestAccounts.ADDRESS)).isEmpty();
    here.logIn("root", "apple");
    assertThat(here.accounts.loggingIn().recall("root", "apple", TestAccounts.ADDRESS)).isPresent();
  }

  @Test
  void a_password_changed_on_one_server_is_refused_on_the_other_within_half_a_second() {
    here.accounts.admins().put("root", "apple");
    assertThat(there.logIn("root", "apple")).isInstanceOf(Granted.class);
    here.accounts.admins().put("root", "pear");
    there.later(STALE);
    assertThat(there.accounts.loggingIn().recall("root", "apple", TestAccounts.ADDRESS)).isEmpty();
    assertThat(there.logIn("root", "apple")).isEqualTo(new Refused());
    assertThat(there.logIn("root", "pear")).isInstanceOf(Granted.class);
    assertThat(there.accounts.loggingIn().recall("root", "pear", TestAccounts.ADDRESS)).isPresent();
  }

  @Test
  void a_session_begins_with_the_account_as_it_is_though_its_password_is_the_same() {
    here.accounts.admins().put("root", "apple");
    assertThat(there.logIn("root", "apple")).isInstanceOf(Granted.class);
    here.accounts.admins().put("root", "apple");
    NamedAccount now = here.accounts.account("root").orElseThrow();
    assertThat(there.accounts.loggingIn().recall("root", "apple", TestAccounts.ADDRESS))
        .isPresent();
    assertThat(there.accounts.loggingIn().beginSession("root", "apple", "a").join())
        .isEqualTo(new Granted(now));
    assertThat(there.accounts.loggingIn().beginSession("root", "pear", "a").join())
        .isEqualTo(new Refused());
  }

  @Test
  void an_admin_deleted_on_one_server_is_refused_on_the_other_within_half_a_second() {
    here.accounts.admins().put("root", "apple");
    here.accounts.admins().put("other", "apple");
    there.logIn("root", "apple");
    here.accounts.admins().remove("root");
    there.later(STALE);
    assertThat(there.accounts.recallAccount("root")).isEmpty();
    assertThat(there.accounts.account("root")).isEmpty();
    assertThat(there.accounts.recallAccount("root")).contains(Optional.empty());
    assertThat(there.logIn("root", "apple")).isEqualTo(new Refused());
  }

  @Test
  void a_new_password_is_good_at_once_on_every_server() {
    here.accounts.admins().put("root", "apple");
    there.logIn("root", "apple");
    here.accounts.admins().put("root", "pear");
    assertThat(there.logIn("root", "pear")).isInstanceOf(Granted.class);
  }

  @Test
  void a_user_logs_in_with_his_document_and_has_its_roles() {
    here.withUsers();
    assertThat(here.put("anna", TestAccounts.user("anna", "apple", "staff", "_metrics"))).isEmpty();
    UserContext anna = UserContext.named("anna", Set.of("staff", "_metrics"));
    assertThat(granted(there.logIn("anna", "apple"))).contains(anna);
    assertThat(there.logIn("anna", "pear")).isEqualTo(new Refused());
    assertThat(here.put("anna", TestAccounts.user("anna", "pear"))).isEmpty();
    there.later(STALE);
    assertThat(there.logIn("anna", "apple")).isEqualTo(new Refused());
    assertThat(granted(there.logIn("anna", "pear"))).contains(UserContext.named("anna", Set.of()));
  }

  @Test
  void a_deleted_user_is_refused() {
    here.withUsers();
    here.put("anna", TestAccounts.user("anna", "apple"));
    there.logIn("anna", "apple");
    here.put("anna", "{\"_deleted\":true}");
    there.later(STALE);
    assertThat(there.logIn("anna", "apple")).isEqualTo(new Refused());
    assertThat(there.accounts.account("anna")).isEmpty();
  }

  @Test
  void a_password_is_stored_as_couchdb_stores_it() {
    here.withUsers();
    here.put("anna", TestAccounts.user("anna", "apple"));
    JsonObject stored = here.document("anna");
    assertThat(stored.members()).doesNotContainKeys("password", "password_sha", "preserve_salt");
    assertThat(text(stored, "password_scheme")).isEqualTo("pbkdf2");
    assertThat(text(stored, "pbkdf2_prf")).isEqualTo("sha256");
    assertThat(text(stored, "salt")).matches("[0-9a-f]{32}");
    assertThat(text(stored, "derived_key")).matches("[0-9a-f]{64}");
    assertThat(stored.toString()).doesNotContain("apple");
    here.put("anna", TestAccounts.user("anna", "apple"));
    assertThat(text(here.document("anna"), "salt")).isNotEqualTo(text(stored, "salt"));
  }

  @Test
  void an_admin_with_a_users_document_has_its_roles_and_keeps_his_password() {
    here.withUsers();
    here.accounts.admins().put("root", "apple");
    here.put("root", TestAccounts.user("root", "pear", "staff"));
    assertThat(there.logIn("root", "pear")).isEqualTo(new Refused());
    assertThat(granted(there.logIn("root", "apple")))
        .contains(UserContext.named("root", Set.of("_admin", "staff")));
  }

  @Test
  void a_document_in_conflict_lets_nobody_in_and_tells_only_who_knows_its_password() {
    here.withUsers();
    here.put("anna", TestAccounts.user("anna", "apple"));
    assertThat(there.logIn("anna", "apple")).isInstanceOf(Granted.class);
    ReplicatedEdit other =
        new ReplicatedEdit(
            "org.couchdb.user:anna",
            RevisionPath.of(RevisionId.of("1-abc")),
            false,
            here.accounts
                .userEdits()
                .hash(
                    here.edit(
                        UserContext.ADMIN_PARTY,
                        "org.couchdb.user:anna",
                        TestAccounts.user("anna", "apple")))
                .join()
                .body());
    assertThat(here.store(other.by(UserContext.SERVER))).isEmpty();
    there.later(STALE);
    assertThat(there.logIn("anna", "apple")).isEqualTo(new Conflicted());
    assertThat(there.accounts.loggingIn().recall("anna", "apple", TestAccounts.ADDRESS)).isEmpty();
    assertThat(there.logIn("anna", "apple")).isEqualTo(new Conflicted());
    assertThat(there.logIn("anna", "pear")).isEqualTo(new Refused());
  }

  @Test
  void a_hash_of_an_earlier_scheme_is_replaced_at_the_next_log_in_and_keeps_its_salt() {
    here.withUsers();
    here.store(
        here.edit(
            UserContext.ADMIN_PARTY,
            "org.couchdb.user:anna",
            "{\"type\":\"user\",\"name\":\"anna\",\"roles\":[\"x\"],\"salt\":\"salt\",\"mail\":\"a@b\","
                + "\"password_sha\":\"e21216acd080d1077e4f9894c0945eb4b023202c\"}"));
    assertThat(here.logIn("anna", "pear")).isEqualTo(new Refused());
    assertThat(here.document("anna").members()).containsKey("password_sha");
    assertThat(here.logIn("anna", "apple")).isInstanceOf(Granted.class);
    here.awaitHashing();
    JsonObject upgraded = here.document("anna");
    assertThat(text(upgraded, "password_scheme")).isEqualTo("pbkdf2");
    assertThat(text(upgraded, "pbkdf2_prf")).isEqualTo("sha256");
    assertThat(text(upgraded, "salt")).isEqualTo("salt");
    assertThat(text(upgraded, "mail")).isEqualTo("a@b");
    assertThat(upgraded.members()).doesNotContainKeys("password_sha", "password");
    assertThat(there.logIn("anna", "apple")).isInstanceOf(Granted.class);
    String rev = text(upgraded, "_rev");
    there.awaitHashing();
    assertThat(text(here.document("anna"), "_rev")).isEqualTo(rev);
  }

  /**
   * Time on the processor, of which other tests take nothing. The difference was a thousandfold.
   */
  @Test
  void a_wrong_password_takes_as_long_as_a_wrong_name_whatever_was_imported() {
    try (TestAccounts slow = new TestAccounts(stores.fresh(), SecurityObject.ADMIN_ONLY, 50_000)) {
      slow.accounts
          .admins()
          .put("imported", "-pbkdf2-758ee64199c592dfac4344089504dc02dd04472a,salt,10");
      slow.accounts.admins().put("simple", "-hashed-e21216acd080d1077e4f9894c0945eb4b023202c,salt");
      slow.accounts.admins().put("own", "apple");
      hashingNanos(slow, "nobody");
      long nobody = hashingNanos(slow, "nobody");
      for (String name : new String[] {"imported", "simple", "own"}) {
        assertThat(hashingNanos(slow, name)).as(name).isBetween(nobody / 20, nobody * 20);
      }
    }
  }

  private static long hashingNanos(TestAccounts accounts, String name) {
    Map<Long, Long> before = hashingNanos();
    assertThat(accounts.logIn(name, "wrong")).isEqualTo(new Refused());
    return hashingNanos().entrySet().stream()
        .mapToLong(it -> it.getValue() - before.getOrDefault(it.getKey(), 0L))
        .sum();
  }

  /** By thread; threads without work end. */
  private static Map<Long, Long> hashingNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(it -> it.getName().startsWith("lectus-hashing"))
        .collect(
            Collectors.toMap(
                Thread::getId, it -> Math.max(0, threads.getThreadCpuTime(it.getId()))));
  }

  @Test
  void an_imported_admin_gets_the_current_hash_at_the_next_log_in() {
    String imported = "-pbkdf2-758ee64199c592dfac4344089504dc02dd04472a,salt,10";
    here.accounts.admins().put("root", imported);
    assertThat(here.accounts.admins().all())
        .containsExactly(new Admin("root", imported.replace("-pbkdf2-", "-pbkdf2:sha-")));
    assertThat(here.logIn("root", "apple")).isInstanceOf(Granted.class);
    here.awaitHashing();
    assertThat(here.accounts.admins().all().get(0).hash()).matches("-pbkdf2:sha256-.*,salt,10");
    assertThat(there.logIn("root", "apple")).isInstanceOf(Granted.class);
  }

  @Test
  void five_wrong_passwords_lock_a_name_out_from_its_address_for_five_minutes() {
    here.accounts.admins().put("root", "apple");
    for (int i = 1; i < WrongPasswords.MAX_WRONG; i++) {
      assertThat(here.logIn("root", "wrong" + i)).isEqualTo(new Refused());
    }
    here.later(Duration.ofMinutes(1));
    assertThat(here.logIn("root", "wrong")).isEqualTo(new Refused());
    assertThat(here.logIn("root", "apple")).isEqualTo(new LockedOut(Duration.ofMinutes(4)));
    assertThat(here.accounts.loggingIn().logIn("root", "apple", "10.0.0.1"))
        .isInstanceOf(Granted.class);
    assertThat(here.logIn("other", "apple")).isEqualTo(new Refused());
    here.later(Duration.ofMinutes(4).plusNanos(1));
    assertThat(here.logIn("root", "apple")).isInstanceOf(Granted.class);
  }

  @Test
  void names_that_do_not_exist_are_locked_out_like_others() {
    for (int i = 0; i < WrongPasswords.MAX_WRONG; i++) {
      assertThat(here.logIn("nobody", "wrong")).isEqualTo(new Refused());
    }
    assertThat(here.logIn("nobody", "wrong")).isInstanceOf(LockedOut.class);
  }

  @Test
  void a_right_password_forgives_wrong_ones_and_another_password_ends_a_lock_out() {
    here.accounts.admins().put("root", "apple");
    for (int i = 1; i < WrongPasswords.MAX_WRONG; i++) {
      here.logIn("root", "wrong");
    }
    assertThat(here.logIn("root", "apple")).isInstanceOf(Granted.class);
    for (int i = 0; i < WrongPasswords.MAX_WRONG; i++) {
      assertThat(here.logIn("root", "wrong")).isEqualTo(new Refused());
    }
    assertThat(here.logIn("root", "apple")).isInstanceOf(LockedOut.class);
    here.accounts.admins().put("root", "pear");
    assertThat(here.logIn("root", "pear")).isInstanceOf(Granted.class);
  }

  @Test
  void too_many_log_ins_at_once_are_turned_away() throws InterruptedException {
    here.accounts.admins().put("root", "apple");
    CompletableFuture<Void> held = new CompletableFuture<>();
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    holdAllThreads(held);
    CompletableFuture<?> last = CompletableFuture.completedFuture(null);
    while (!last.isCompletedExceptionally()) {
      last =
          here.accounts
              .passwords
              .hashing()
              .begin(Hashing.Turn.STRANGER, TestAccounts.ADDRESS, held::join);
      waiting.add(last);
      assertThat(waiting.size()).isLessThanOrEqualTo(Hashing.MAX_WAITING + 1);
    }
    assertThat(waiting).hasSize(Hashing.MAX_WAITING + 1);
    assertThatThrownBy(() -> here.logIn("root", "apple"))
        .hasMessage("service_unavailable: Too many log in at once.");
    held.complete(null);
    CompletableFuture.allOf(
            waiting.subList(0, waiting.size() - 1).toArray(CompletableFuture[]::new))
        .join();
    assertThat(here.logIn("root", "apple")).isInstanceOf(Granted.class);
  }

  /** Returns when each thread has begun, so that none takes any more from the line. */
  private void holdAllThreads(CompletableFuture<Void> held) throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(Hashing.AT_ONCE);
    for (int i = 0; i < Hashing.AT_ONCE; i++) {
      here.accounts
          .passwords
          .hashing()
          .begin(
              Hashing.Turn.STRANGER,
              TestAccounts.ADDRESS,
              () -> {
                begun.countDown();
                return held.join();
              });
    }
    begun.await();
  }

  @Test
  void who_has_logged_in_before_does_not_wait_behind_strangers() throws InterruptedException {
    here.accounts.admins().put("root", "apple");
    here.logIn("root", "apple");
    CompletableFuture<Void> held = new CompletableFuture<>();
    holdAllThreads(held);
    here.later(VerifiedPasswords.KEPT.plusSeconds(1));
    assertThat(here.logIn("root", "apple")).isInstanceOf(Granted.class);
    held.complete(null);
  }

  @Test
  void a_flood_from_one_address_does_not_turn_others_away() {
    here.accounts.admins().put("root", "apple");
    CompletableFuture<Void> held = new CompletableFuture<>();
    CompletableFuture<?> last = CompletableFuture.completedFuture(null);
    while (!last.isCompletedExceptionally()) {
      last =
          here.accounts.passwords.hashing().begin(Hashing.Turn.STRANGER, "10.0.0.66", held::join);
    }
    CompletableFuture<LogIn> other =
        here.accounts.loggingIn().beginLogIn("root", "apple", "10.0.0.1");
    assertThat(other).isNotDone();
    held.complete(null);
    assertThat(other.join()).isInstanceOf(Granted.class);
  }

  @Test
  void a_remembered_password_is_not_told_to_who_is_locked_out() {
    here.accounts.admins().put("root", "apple");
    here.logIn("root", "apple");
    for (int i = 0; i < WrongPasswords.MAX_WRONG; i++) {
      here.accounts.loggingIn().logIn("root", "wrong", "10.0.0.66");
    }
    assertThat(here.accounts.loggingIn().recall("root", "apple", "10.0.0.66")).isEmpty();
    assertThat(here.accounts.loggingIn().logIn("root", "apple", "10.0.0.66"))
        .isInstanceOf(LockedOut.class);
    assertThat(here.accounts.loggingIn().recall("root", "apple", TestAccounts.ADDRESS)).isPresent();
  }

  @Test
  void what_waits_is_judged_when_its_turn_comes() {
    here.accounts.admins().put("root", "apple");
    CompletableFuture<Void> held = new CompletableFuture<>();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      here.accounts
          .passwords
          .hashing()
          .begin(Hashing.Turn.STRANGER, TestAccounts.ADDRESS, held::join);
    }
    List<CompletableFuture<LogIn>> guesses = new ArrayList<>();
    for (int i = 0; i < 3 * WrongPasswords.MAX_WRONG; i++) {
      guesses.add(here.accounts.loggingIn().beginLogIn("root", "wrong" + i, TestAccounts.ADDRESS));
    }
    held.complete(null);
    List<LogIn> outcomes = guesses.stream().map(CompletableFuture::join).toList();
    assertThat(outcomes)
        .startsWith(new Refused())
        .endsWith(new LockedOut(WrongPasswords.COUNTED))
        .filteredOn(Refused.class::isInstance)
        .hasSizeLessThan(2 * WrongPasswords.MAX_WRONG);
  }

  @Test
  void who_tries_many_names_from_an_address_is_slowed_down_more_and_more() {
    here.accounts.admins().put("root", "apple");
    here.accounts.admins().put("ada", "plum");
    here.logIn("root", "apple");
    for (int i = 0; i < LoginThrottle.FREE_NAMES; i++) {
      assertThat(here.logIn("name" + i, "wrong")).isEqualTo(new Refused());
    }
    assertThat(here.logIn("ada", "plum")).isEqualTo(new LogIn.Slowed(LoginThrottle.SHORTEST_PAUSE));
    assertThat(here.accounts.loggingIn().logIn("ada", "plum", "10.0.0.1"))
        .isInstanceOf(Granted.class);
    here.later(VerifiedPasswords.KEPT.plusSeconds(1));
    assertThat(here.logIn("root", "apple")).isInstanceOf(Granted.class);
    assertThat(here.logIn("root", "wrong")).isEqualTo(new Refused());
    assertThat(here.logIn("another", "wrong")).isEqualTo(new Refused());
    Duration longer = LoginThrottle.SHORTEST_PAUSE.multipliedBy(2);
    assertThat(here.logIn("another", "wrong")).isEqualTo(new LogIn.Slowed(longer));
    here.later(longer);
    assertThat(here.logIn("ada", "plum")).isInstanceOf(Granted.class);
    assertThat(here.logIn("another", "wrong")).isEqualTo(new Refused());
    here.later(LoginThrottle.COUNTED);
    for (int i = 0; i < LoginThrottle.FREE_NAMES; i++) {
      assertThat(here.logIn("name" + i, "wrong")).isEqualTo(new Refused());
    }
  }

  @Test
  void a_network_of_ipv6_is_one_address() {
    assertThat(ClientNetwork.of("2001:db8::1")).isEqualTo(ClientNetwork.of("2001:db8::ffff:2"));
    assertThat(ClientNetwork.of("2001:db8::1")).isNotEqualTo(ClientNetwork.of("2001:db8:0:1::1"));
    assertThat(ClientNetwork.of("10.0.0.1")).isEqualTo("10.0.0.1");
    assertThat(ClientNetwork.of("no:address")).isEqualTo("no:address");
  }

  @Test
  void a_log_in_need_not_wait() {
    here.accounts.admins().put("root", "apple");
    assertThat(there.accounts.loggingIn().beginLogIn("root", "apple", "a").join())
        .isInstanceOf(Granted.class);
    assertThat(there.accounts.loggingIn().beginLogIn("root", "pear", "a").join())
        .isEqualTo(new Refused());
    there.close();
    there.later(STALE);
    assertThat(there.accounts.loggingIn().beginLogIn("root", "apple", "a"))
        .isCompletedExceptionally();
  }

  @Test
  void passwords_have_a_limit() {
    String longest = "p".repeat(NewPassword.MAX_BYTES);
    here.accounts.admins().put("root", longest);
    assertThat(here.logIn("root", longest)).isInstanceOf(Granted.class);
    assertThat(here.logIn("root", longest + "p")).isEqualTo(new Refused());
    assertThatThrownBy(() -> here.accounts.admins().put("root", longest + "p"))
        .hasMessage("forbidden: A password has at most 4096 bytes.");
    assertThatThrownBy(() -> here.accounts.admins().put("root", "")).hasMessageContaining("empty");
    assertThatThrownBy(() -> here.accounts.admins().put("root", "-pbkdf2-x,y,z"))
        .hasMessage("bad_request: The hash of a password cannot be used.");
  }

  @Test
  void names_of_admins_have_a_limit() {
    String longest = "n".repeat(UserDocumentRule.MAX_NAME_BYTES);
    here.accounts.admins().put(longest, "apple");
    assertThat(here.logIn(longest, "apple")).isInstanceOf(Granted.class);
    for (String name : new String[] {longest + "n", "", "a:b", "a\nb"}) {
      assertThatThrownBy(() -> here.accounts.admins().put(name, "apple"))
          .hasMessageStartingWith("bad_request: The name of an admin has 1 to 256 bytes");
    }
  }

  @Test
  void all_servers_sign_cookies_with_one_secret() {
    assertThat(here.accounts.cookieSecret().recall()).isEmpty();
    byte[] secret = here.accounts.cookieSecret().read();
    assertThat(secret).hasSize(32);
    assertThat(there.accounts.cookieSecret().read()).isEqualTo(secret);
    assertThat(here.accounts.cookieSecret().recall()).contains(secret);
  }

  @Test
  void an_accounts_salt_changes_with_its_password() {
    here.accounts.admins().put("root", "apple");
    String salt = here.accounts.account("root").orElseThrow().salt();
    here.accounts.admins().put("root", "apple");
    assertThat(here.accounts.account("root").orElseThrow().salt()).isNotEqualTo(salt);
    assertThat(here.accounts.recallAccount("root")).isPresent();
  }

  private static String text(JsonObject document, String member) {
    return ((JsonString) document.get(member).orElseThrow()).value();
  }
}
