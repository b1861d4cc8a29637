mod new;
