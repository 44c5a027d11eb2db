/// The version of this build.
enum SiwaVersion {
    static let current = "0.1.0"
}
