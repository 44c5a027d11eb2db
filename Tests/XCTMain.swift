import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The program of all tests. It is found by its name, and spares the compiler the index in which SwiftPM looks
/// for tests of XCTest, of which there are none.
@main
struct Runner {
    static func main() async {
        // `swift test` starts this program once for each of its two libraries.
        let arguments = CommandLine.arguments
        guard let library = arguments.firstIndex(of: "--testing-library"),
            arguments[library...].dropFirst().first == "swift-testing"
        else { return }
        let status: CInt = await Testing.__swiftPMEntryPoint()
        // `swift test` takes this status for success.
        guard status != EX_UNAVAILABLE else {
            print("error: no test ran, because no test matches the arguments")
            exit(EXIT_FAILURE)
        }
        exit(status)
    }
}
