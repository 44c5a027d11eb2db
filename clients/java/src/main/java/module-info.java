/** Sign in with Apple in Java and Kotlin backends: the client of a siwa service. */
module siwa.client {
    requires java.net.http;
    exports siwa.client;
}

