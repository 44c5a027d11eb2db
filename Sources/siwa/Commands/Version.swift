import ArgumentParser

/// `siwa version`
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the version.")

    func run() {
        print("siwa \(SiwaVersion.current)")
    }
}
