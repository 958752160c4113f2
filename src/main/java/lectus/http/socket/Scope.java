package lectus.http.socket;

import java.util.List;
import lectus.database.DatabaseName;
import lectus.feed.Since;

/** What a subscription is about, and where in its order it begins. */
public sealed interface Scope {

  /**
   * {@code "db":"x"}.
   *
   * @param since as {@code _changes} takes it
   */
  record OneDatabase(DatabaseName name, Since since) implements Scope {}

  /**
   * {@code "db":"user-*"} or {@code "db":["x","user-*"]}.
   *
   * @param patterns names, in which {@code *} stands for any characters
   * @param since {@code 0}, {@code now} or a versionstamp of the store
   */
  record ManyDatabases(List<String> patterns, String since) implements Scope {
    public ManyDatabases {
      patterns = List.copyOf(patterns);
    }
  }
}
