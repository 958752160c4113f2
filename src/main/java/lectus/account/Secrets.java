package lectus.account;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.security.SecureRandom;
import java.util.Optional;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionRunner;

/** The secrets that the servers of a store share. Whoever needs one first makes it. */
final class Secrets {
  private final SecretsSubspace rows;
  private final TransactionRunner transactions;

  Secrets(Store store, TransactionRunner transactions) {
    this.rows = new SecretsSubspace(store.rootPrefix());
    this.transactions = transactions;
  }

  /** Returns the secret with which cookies are signed. */
  byte[] cookie() {
    return transactions.read(this::stored).orElseGet(() -> transactions.run(this::storedOrNew));
  }

  private Optional<byte[]> stored(ReadTransaction tx) {
    return Optional.ofNullable(Awaiting.await(tx.get(rows.cookieKey())))
        .map(SecretsSubspace::secret);
  }

  private byte[] storedOrNew(Transaction tx) {
    return stored(tx).orElseGet(() -> made(tx));
  }

  private byte[] made(Transaction tx) {
    byte[] secret = new byte[SecretsSubspace.LENGTH];
    new SecureRandom().nextBytes(secret);
    tx.set(rows.cookieKey(), SecretsSubspace.value(secret));
    return secret;
  }
}
