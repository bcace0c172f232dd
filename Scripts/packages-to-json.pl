#!/usr/bin/env perl
# Reads a Debian package catalogue ("Name: value" paragraphs) and writes one JSON document per line.
#
# The id is the package's name. Another record with the same name gets "<name>_<version>", and then
# "<name>_<version>_<architecture>"; a record that still has the same id is a duplicate and is skipped.
use strict;
use warnings;

my %escapes = ('"' => '\\"', '\\' => '\\\\', "\n" => '\\n', "\t" => '\\t', "\r" => '\\r', "\b" => '\\b', "\f" => '\\f');
my %seen;

sub quoted {
    my ($text) = @_;
    # Bytes that are not UTF-8 are read as Latin-1, so that every line is valid JSON.
    utf8::decode($text) or utf8::upgrade($text);
    $text =~ s/(["\\\x00-\x1f])/$escapes{$1} \/\/ sprintf('\\u%04x', ord $1)/ge;
    utf8::encode($text);
    return qq("$text");
}

sub value {
    my ($name, $text) = @_;
    return $text if $name =~ /^(?:installed-size|size)$/ && $text =~ /^(?:0|[1-9][0-9]{0,14})$/;
    return quoted($text);
}

$/ = '';    # A record is a paragraph.
while (my $record = <STDIN>) {
    my (@names, %fields, $name);
    for my $line (split /\n/, $record) {
        if ($line =~ /^([A-Za-z0-9][A-Za-z0-9-]*):\s*(.*)$/) {
            $name = lc $1;
            push @names, $name unless exists $fields{$name};
            $fields{$name} = $2;
        } elsif (defined $name && $line =~ /^\s(.*)$/) {
            $fields{$name} .= "\n$1";
        }
    }

    next unless defined $fields{package};
    my $version = $fields{version} // '';
    my $architecture = $fields{architecture} // '';
    my ($id) = grep { !$seen{$_} }
        ($fields{package}, "$fields{package}_$version", "$fields{package}_${version}_$architecture");
    next unless defined $id;
    $seen{$id} = 1;

    my @members = map { quoted($_) . ':' . value($_, $fields{$_}) } @names;
    print '{"_id":', quoted($id), ',', join(',', @members), "}\n";
}
