package lectus.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lectus.config.AccessKeys;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.ConfiguredStore;
import lectus.config.DocumentKeys;
import lectus.config.ListenKeys;
import lectus.config.ReplicatorKeys;
import lectus.config.Settings;
import lectus.config.StoreKeys;
import lectus.server.Node;
import lectus.store.EmbeddedStores;
import lectus.store.Store;

/**
 * A server on the data folder of a stopped one, for one command: it listens to this machine alone,
 * and whoever may read the folder needs no password, because a token of this process will do.
 */
final class StoppedServer implements AutoCloseable {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int SECRET_BYTES = 32;

  /** How keys begin that say how much there may be of something, and how it is stored. */
  private static final Set<String> OF_DATA = Set.of("attachments.", "documents.", "store.");

  /** No command takes longer. */
  private static final Duration LONGEST = Duration.ofDays(100);

  private final Path keys;
  private final Store store;
  private final Node node;
  private final String token;

  /**
   * @param configured as the server is; its limits and layouts apply
   * @throws lectus.error.StoreOpenException a server has it open, among others
   */
  StoppedServer(Path data, Configuration configured) {
    if (!EmbeddedStores.isStore(data)) {
      throw new ConfigurationException("The folder " + data + " holds no Lectus store.");
    }
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    try {
      this.keys = Files.createTempFile("lectus", ".keys");
      Files.writeString(
          keys, "hmac:_default = " + Base64.getEncoder().encodeToString(secret) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.token = token(secret);
    Map<String, String> flags = new HashMap<>();
    flags.put(StoreKeys.STORE.name(), "embedded");
    flags.put(StoreKeys.DATA.name(), data.toString());
    flags.put(ListenKeys.HOST.name(), "127.0.0.1");
    flags.put(ListenKeys.PORT.name(), "0");
    flags.put(AccessKeys.JWT_KEYS.name(), keys.toString());
    // How long the server keeps deleted databases is not known here.
    flags.put(DocumentKeys.KEEP_DELETED_SECONDS.name(), DocumentKeys.KEEP_DELETED_LONGEST);
    // Documents that describe replications are for the server.
    flags.put(ReplicatorKeys.MAX_JOBS.name(), "0");
    // What else is configured is for a server with clients: TLS, other hosts, a cluster.
    Configuration configuration =
        configured.only(name -> OF_DATA.stream().anyMatch(name::startsWith)).with(flags);
    try {
      this.store = ConfiguredStore.open(configuration);
    } catch (RuntimeException refused) {
      remove(keys);
      throw refused;
    }
    try {
      this.node = Node.start(Settings.of(configuration).node(), store);
    } catch (RuntimeException refused) {
      store.close();
      remove(keys);
      throw refused;
    }
  }

  private static void remove(Path keys) {
    try {
      Files.deleteIfExists(keys);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String token(byte[] secret) {
    long end = Instant.now().plus(LONGEST).getEpochSecond();
    String text =
        encoded("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.US_ASCII))
            + '.'
            + encoded(
                ("{\"sub\":\"lectus\",\"_couchdb.roles\":[\"_admin\"],\"exp\":" + end + "}")
                    .getBytes(StandardCharsets.US_ASCII));
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      return text + '.' + encoded(mac.doFinal(text.getBytes(StandardCharsets.US_ASCII)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has " + ALGORITHM, e);
    }
  }

  private static String encoded(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + node.port());
  }

  /** Returns the value of the header {@code Authorization}. */
  String authorization() {
    return "Bearer " + token;
  }

  @Override
  public void close() {
    try {
      node.close();
      store.close();
    } finally {
      remove(keys);
    }
  }
}
