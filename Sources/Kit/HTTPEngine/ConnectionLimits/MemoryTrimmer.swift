import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Returns to the system the memory that glibc would otherwise keep after many connections have closed.
///
/// The allocator itself returns only unused memory at the end of a heap, so one block in use keeps all memory
/// before it. Other C libraries have no `malloc_trim`, and need it less.
final class MemoryTrimmer: Sendable {
    private typealias Trim = @convention(c) @Sendable (_ bytesToKeep: Int) -> Int32

    /// Delay before the call, so that many connections closing one after another cause only one call. The
    /// call takes milliseconds on its own thread.
    private static let delay = TimeAmount.seconds(5)
    /// Address of `malloc_trim`, found by name because Swift's glibc module does not contain its header.
    private static let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Trim.self) }

    private let isScheduled = Atomic<Bool>(false)

    func schedule() {
        guard let trim = Self.trim,
            isScheduled.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return }
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.delay) {
            NIOThreadPool.singleton.submit { _ in
                self.isScheduled.store(false, ordering: .relaxed)
                _ = trim(0)
            }
        }
    }
}
