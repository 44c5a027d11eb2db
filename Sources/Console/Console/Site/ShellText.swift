/// Texts in commands for a shell.
enum ShellText {
    /// In single quotes a shell reads nothing but the end.
    static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
