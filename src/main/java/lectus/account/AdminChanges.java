package lectus.account;

import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.store.Awaiting;

/** The admins as the configuration API shows and changes them. Thread-safe. */
public final class AdminChanges {
  private final Admins admins;
  private final Runnable look;
  private final KnownAccounts known;
  private final Hashing hashing;
  private final int iterations;

  /**
   * @param look has this server see at once whether there are admins
   */
  AdminChanges(Admins admins, Runnable look, KnownAccounts known, Hashing hashing, int iterations) {
    this.admins = admins;
    this.look = look;
    this.known = known;
    this.hashing = hashing;
    this.iterations = iterations;
  }

  /** Returns the admins and their passwords' hashes; waits for the store. */
  public List<AdminsSubspace.Admin> all() {
    return admins.all();
  }

  /**
   * Makes an admin, or gives one another password. Waits.
   *
   * @param password or its hash in CouchDB's form
   * @return the former hash
   * @throws LectusException {@code bad_request}: the name or the password cannot be used;
   *     Unavailable: too many log in at once
   */
  public Optional<String> put(String name, String password) {
    String hash =
        Awaiting.await(
            hashing.begin(Hashing.Turn.GUEST, name, () -> Admins.hashOf(password, iterations)));
    return changed(name, admins.put(name, hash));
  }

  /**
   * @return the hash of the admin's password; empty if there was no such admin
   */
  public Optional<String> remove(String name) {
    return changed(name, admins.remove(name));
  }

  private Optional<String> changed(String name, Optional<String> former) {
    known.look(name);
    look.run();
    return former;
  }
}
