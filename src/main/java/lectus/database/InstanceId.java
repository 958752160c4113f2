package lectus.database;

/** Identifies one life of a database: 32 random lower-case hex digits. */
public record InstanceId(String hex) {
  @Override
  public String toString() {
    return hex;
  }
}
