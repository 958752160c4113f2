package lectus.cli;

import java.util.Map;
import java.util.Optional;
import lectus.account.Admins;
import lectus.config.AccountKeys;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.ListenAddress;
import lectus.config.ListenKeys;
import lectus.error.LectusException;
import lectus.store.Store;

/**
 * Keeps a server without an admin on loopback, where nobody else reaches it, unless the
 * administrator says otherwise. While there is no admin, everybody who reaches the server is one.
 */
final class Exposure {
  /** As CouchDB's container has them. */
  private static final String USER = "COUCHDB_USER";

  private static final String PASSWORD = "COUCHDB_PASSWORD";

  private final Configuration configuration;
  private final Map<String, String> environment;
  private final Console console;

  Exposure(Configuration configuration, Map<String, String> environment, Console console) {
    this.configuration = configuration;
    this.environment = environment;
    this.console = console;
  }

  /**
   * @throws ConfigurationException one of the two variables is missing, or the address does not
   *     exist
   */
  void checkConfiguration() {
    if (given(USER).isPresent() != given(PASSWORD).isPresent()) {
      throw new ConfigurationException(
          "The admin that " + USER + " and " + PASSWORD + " make needs both of them.");
    }
    ListenAddress.of(configuration.get(ListenKeys.HOST));
  }

  /**
   * Makes the admin that the environment names, and checks whether the server may listen where it
   * is to.
   *
   * @return the store
   * @throws ConfigurationException it may not
   */
  Store secure(Store store) {
    Admins admins = new Admins(store);
    given(USER).ifPresent(name -> make(admins, name));
    String host = configuration.get(ListenKeys.HOST);
    if (!ListenAddress.of(host).isLoopback() && !admins.isAny()) {
      checkIsWanted(host);
    }
    return store;
  }

  private void make(Admins admins, String name) {
    if (admins.hash(name).isPresent()) {
      return;
    }
    int iterations = configuration.get(AccountKeys.HASH_ITERATIONS);
    try {
      admins.putIfMissing(name, Admins.hashOf(given(PASSWORD).orElseThrow(), iterations));
    } catch (LectusException unusable) {
      throw new ConfigurationException(unusable.error().reason());
    }
  }

  private void checkIsWanted(String host) {
    if (!configuration.get(ListenKeys.ALLOW_ANONYMOUS)) {
      throw new ConfigurationException(
          "Listening on "
              + host
              + " lets everybody who reaches it do everything, because there is no admin yet:"
              + " \"lectus admin NAME\" makes one, and so do "
              + USER
              + " and "
              + PASSWORD
              + " in the environment; --allow-anonymous says that everybody is meant.");
    }
    console.say("Everybody who reaches " + host + " can read, write and delete everything.");
  }

  private Optional<String> given(String variable) {
    return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
  }
}
