package lectus.account;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import lectus.account.AccountSettings.Lockout;
import lectus.account.UserDatabaseMaking.UserDatabases;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseName;
import lectus.database.SecurityObject;
import lectus.database.Whereabouts;
import lectus.database.Whereabouts.Frozen;
import lectus.metrics.Tasks;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Users' own databases, as CouchDB's couch_peruser makes them. */
class UserDatabasesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final DatabaseName ANNA = DatabaseName.of("userdb-616e6e61");

  private final Store store = stores.fresh();
  @AutoClose private final TestAccounts here = new TestAccounts(store).withUsers();
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final UserDatabases databases = new UserDatabases(here.catalogue, transactions, false);

  @Test
  void names_are_hex_digits_and_have_a_limit() {
    assertThat(UserDatabases.nameOf("anna")).contains(ANNA);
    assertThat(UserDatabases.nameOf("ä\n")).contains(DatabaseName.of("userdb-c3a40a"));
    assertThat(UserDatabases.nameOf("n".repeat(115))).isPresent();
    assertThat(UserDatabases.nameOf("n".repeat(116))).isEmpty();
  }

  @Test
  void a_user_gets_a_database_that_is_his_alone() {
    here.put("anna", TestAccounts.user("anna", "apple"));
    databases.follow(List.of("anna", "nobody"));
    assertThat(security())
        .isEqualTo(
            json(
                "{'members':{'roles':['_admin'],'names':['anna']},'admins':{'roles':['_admin'],'names':['anna']}}"));
    assertThat(here.catalogue.names(lectus.database.NameRange.ALL).names())
        .containsExactly(UserDocuments.USERS, ANNA);
  }

  @Test
  void to_follow_twice_changes_nothing_and_others_in_the_security_object_remain() {
    here.put("anna", TestAccounts.user("anna", "apple"));
    databases.follow(List.of("anna"));
    String security = json("{'x':1,'members':{'names':['bob']},'admins':{'names':['anna']}}");
    here.catalogue.secure(ANNA, security.getBytes(StandardCharsets.UTF_8));
    databases.follow(List.of("anna"));
    String both = json("{'x':1,'members':{'names':['bob','anna']},'admins':{'names':['anna']}}");
    assertThat(security()).isEqualTo(both);
    byte[] version = here.catalogue.open(ANNA).version();
    databases.follow(List.of("anna"));
    assertThat(here.catalogue.open(ANNA).version()).isEqualTo(version);
  }

  @Test
  void a_user_who_is_deleted_loses_his_right_and_his_database_is_not_everybodys() {
    here.put("anna", TestAccounts.user("anna", "apple"));
    databases.follow(List.of("anna"));
    here.catalogue.secure(ANNA, TestAccounts.utf8("{'members':{'names':['anna']}}"));
    here.put("anna", "{\"_deleted\":true}");
    databases.follow(List.of("anna"));
    assertThat(security()).isEqualTo("{\"members\":{\"names\":[],\"roles\":[\"_admin\"]}}");
  }

  /** It may stay here, and then its former user is nobody in it. */
  @Test
  void a_user_who_is_deleted_while_the_database_is_on_its_way_loses_the_right_afterwards() {
    here.put("anna", TestAccounts.user("anna", "apple"));
    databases.follow(List.of("anna"));
    here.catalogue.relocate(ANNA, new Frozen("r", "http://there/db"));
    here.put("anna", "{\"_deleted\":true}");
    assertThat(databases.follow(List.of("anna", "bob"))).containsExactly("anna");
    AccountSettings settings =
        new AccountSettings(
            1, 1, SecurityObject.ADMIN_ONLY, true, true, false, false, Lockout.ENFORCE);
    try (UserDatabaseMaking making =
        new UserDatabaseMaking(
            () -> settings, here.catalogue, transactions, new Tasks(), Duration.ofMillis(1))) {
      making.begin(List.of("anna")).join();
      assertThat(security()).contains("anna");
      here.catalogue.relocate(ANNA, Whereabouts.HERE);
      Await.until("the right is gone", () -> !security().contains("anna"));
    }
  }

  @Test
  void a_database_goes_with_its_user_if_that_is_wanted() {
    UserDatabases deleting = new UserDatabases(here.catalogue, transactions, true);
    here.put("anna", TestAccounts.user("anna", "apple"));
    deleting.follow(List.of("anna"));
    assertThat(exists()).isTrue();
    here.put("anna", "{\"_deleted\":true}");
    deleting.follow(List.of("anna"));
    deleting.follow(List.of("anna"));
    assertThat(exists()).isFalse();
  }

  @Test
  void a_database_stays_if_its_user_was_never_there_or_all_users_are_gone() {
    UserDatabases deleting = new UserDatabases(here.catalogue, transactions, true);
    here.catalogue.create(ANNA, lectus.database.testing.TestLayout.OPTIONS);
    deleting.followAll(new Tasks().begin("user_databases"));
    assertThat(exists()).isTrue();
    here.put("anna", TestAccounts.user("anna", "apple"));
    deleting.follow(List.of("anna"));
    here.catalogue.delete(UserDocuments.USERS);
    deleting.followAll(new Tasks().begin("user_databases"));
    assertThat(exists()).isTrue();
    assertThat(security()).doesNotContain("anna");
  }

  @Test
  void what_a_server_that_ended_left_is_done_at_the_next_start() {
    here.put("anna", TestAccounts.user("anna", "apple"));
    here.put("bob", TestAccounts.user("bob", "apple"));
    databases.follow(List.of("bob"));
    here.put("bob", "{\"_deleted\":true}");
    databases.followAll(new Tasks().begin("user_databases"));
    assertThat(security()).contains("anna");
    assertThat(security(UserDatabases.nameOf("bob").orElseThrow())).doesNotContain("bob");
  }

  @Test
  void without_a_database_of_users_there_is_nothing_to_do() {
    here.catalogue.delete(UserDocuments.USERS);
    databases.followAll(new Tasks().begin("user_databases"));
    databases.follow(List.of("anna"));
    assertThat(exists()).isFalse();
  }

  private boolean exists() {
    return transactions.read(tx -> Awaiting.await(here.catalogue.life(tx, ANNA)).isPresent());
  }

  private String security() {
    return security(ANNA);
  }

  private String security(DatabaseName name) {
    return new String(here.catalogue.security(name), StandardCharsets.UTF_8);
  }
}
