public import Foundation
import Synchronization

/// One launch at a time.
private let launches = Mutex(())

extension Process {
    /// Starts the program. Use it in place of `run()`, in all tests.
    ///
    /// Foundation learns of the end of a program by a socket that closes with it, and opens this socket without
    /// `FD_CLOEXEC`. A program that another thread starts at the same moment inherits it. Foundation then takes the
    /// first program for running until the second has ended: a test that stops the first one waits forever.
    ///
    /// The program starts without blocked signals. The threads of Dispatch block all of them, a program inherits the mask
    /// of its thread, and one that leaves the mask as it is, such as PgBouncer, would never receive SIGTERM.
    public func launchAlone() throws {
        try launches.withLock { _ in
            var (none, own) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &own)
            defer { pthread_sigmask(SIG_SETMASK, &own, nil) }
            try run()
        }
    }
}
