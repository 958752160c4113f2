package lectus.database;

/** 32 lower-case hex digits, random, one for each life of a database. */
public record InstanceId(String hex) {
  @Override
  public String toString() {
    return hex;
  }
}
