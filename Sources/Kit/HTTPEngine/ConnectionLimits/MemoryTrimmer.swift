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

/// Returns memory to the system that glibc's allocator keeps after many connections have closed.
///
/// The allocator itself returns only free memory at the end of a heap: one block that is still in use holds
/// all memory before it. Other C libraries do not have the call, and need it less.
final class MemoryTrimmer: Sendable {
    private typealias Trim = @convention(c) @Sendable (_ bytesToKeep: Int) -> Int32

    /// Many connections that close one by one cause one call, which takes milliseconds on a thread of its
    /// own.
    private static let delay = TimeAmount.seconds(5)
    /// Found by name, because Swift's module of glibc does not have its header.
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
