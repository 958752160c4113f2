package lectus.store.testing;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import lectus.store.embedded.engine.CommitRequest;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.StoreSnapshot;

/** An engine with faulty commits: a planted bug, or a log that fails. */
public final class FaultyEngine implements Engine {
  private final Engine sound;
  private final BiFunction<Engine, CommitRequest, CompletableFuture<CommitReceipt>> commit;

  /**
   * @param commit replaces the commit on the sound engine
   */
  public FaultyEngine(
      Engine sound, BiFunction<Engine, CommitRequest, CompletableFuture<CommitReceipt>> commit) {
    this.sound = sound;
    this.commit = commit;
  }

  @Override
  public CompletableFuture<CommitReceipt> commit(CommitRequest request) {
    return commit.apply(sound, request);
  }

  @Override
  public long readVersion() {
    return sound.readVersion();
  }

  @Override
  public StoreSnapshot snapshot(long version) {
    return sound.snapshot(version);
  }

  @Override
  public StoreSnapshot latest() {
    return sound.latest();
  }

  @Override
  public void onPublish(LongConsumer listener) {
    sound.onPublish(listener);
  }

  @Override
  public Path checkpoint() {
    return sound.checkpoint();
  }

  @Override
  public long estimatedSize(byte[] begin, byte[] end) {
    return sound.estimatedSize(begin, end);
  }

  @Override
  public void close() {
    sound.close();
  }
}
